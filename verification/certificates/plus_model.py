"""Certificates of an SVM+ (or SVM) as users hand it over: checked arguments of `refsolve.proofs.svm_plus`."""

import numpy as np
from numpy.typing import ArrayLike

from refsolve import initial_guess
from refsolve.proofs.model import ModelCertificate, Proof
from refsolve.proofs.multipliers import Offset
from refsolve.proofs.space import EPS, Rows, Space, precision
from refsolve.proofs.svm_plus import PlusProof, Point
from verification.certificates.model import check_weight
from verification.errors import InvalidArgumentError

Array = np.ndarray
LOSSES = ("hinge", "squared_hinge")
#: Relative error that a deformed kernel in float64 may have.
Q_ERROR = 1e-12


class Problem(initial_guess.Problem):
    """The data of one binary SVM+, in extended precision where that is affordable.

    Parameters
    ----------
    y : (n,) array of -1 and 1
    loss : {"hinge", "squared_hinge"}
    C, lam : float
        Weights of the loss (a sum, without 1/n) and of the correcting function.
    X, Z : (n, d), (n, s) arrays or sparse matrices, or Gram matrices ``K``, ``Kz`` (n, n)
        Neither Z nor Kz: the ordinary SVM.
    sample_weight : (n,) array, optional
    nonneg_slack : bool, optional
        By default that of the loss: for the hinge only.
    free_slack : float
        delta; own slacks cost lam/(2 delta) sample_weight eta^2.
    blur : float
        Relative error of the entries of Gram matrices that were computed anew.
    """

    def __init__(
        self,
        y: ArrayLike,
        *,
        loss: str,
        C: float,
        lam: float = 1.0,
        X: Rows = None,
        K: Array | None = None,
        Z: Rows = None,
        Kz: Array | None = None,
        sample_weight: ArrayLike | None = None,
        nonneg_slack: bool | None = None,
        free_slack: float = 0.0,
        blur: float = 0.0,
    ) -> None:
        labels = np.asarray(y, dtype=float)
        if loss not in LOSSES:
            raise InvalidArgumentError(f"loss={loss!r}: expected one of {', '.join(LOSSES)}")
        for name, value in (("C", C), ("lam", lam)):
            if not (np.isfinite(value) and value > 0):
                raise InvalidArgumentError(f"{name}={value!r}: expected a positive number")
        if not (np.isfinite(free_slack) and free_slack >= 0):
            raise InvalidArgumentError(f"free_slack={free_slack!r}: expected a number >= 0")
        if labels.ndim != 1 or not np.isin(labels, (-1, 1)).all():
            raise InvalidArgumentError("y: expected a vector of labels -1 and 1")
        weight = check_weight(sample_weight, len(labels))
        kept = np.flatnonzero(weight > 0)
        if not 0 < (labels[kept] > 0).sum() < len(kept):
            raise InvalidArgumentError("y: both classes need an example of positive weight")
        plain = Z is None and Kz is None
        given = [("X", X, "K", K)] + ([] if plain else [("Z", Z, "Kz", Kz)])
        spaces = views(given, kept, len(labels), blur)
        squared = loss == "squared_hinge"
        super().__init__(
            spaces[0],
            labels[kept],
            np.multiply(weight[kept], spaces[0].real(C), dtype=spaces[0].real),
            None if plain else spaces[1],
            lam=lam,
            delta=free_slack / weight[kept].astype(spaces[0].real),
            squared=squared,
            nonneg=(not squared) if nonneg_slack is None else bool(nonneg_slack),
        )

    def part(self, name: str, values: ArrayLike | None) -> Array:
        """The kept entries of a vector (n,); zeros for None."""
        given = np.zeros(self.n) if values is None else np.asarray(values)
        if given.shape != (self.n,) or not np.isfinite(given).all():
            raise InvalidArgumentError(
                f"{name} of shape {given.shape}: expected {self.n} finite numbers"
            )
        return given[self.kept].astype(self.real)

    def point(self, w: ArrayLike, b: Offset, v: ArrayLike | None, rho: Offset) -> Point:
        """A checked model."""
        w, b = vector(self.x, "w", w), self.real(b)
        return Point(w, b) if self.plain else Point(w, b, self.z_vector(v), self.real(rho))

    def certificate(
        self,
        w: ArrayLike,
        b: float,
        alpha: ArrayLike,
        *,
        v: ArrayLike | None = None,
        rho: float = 0.0,
        beta: ArrayLike | None = None,
    ) -> ModelCertificate:
        """Gap of a model, whose rho may be raised, and of multipliers, which are repaired.

        Parameters
        ----------
        w : (d,) array, or coefficients (n,) with ``K``
        b : float
        alpha, beta : (n,) arrays
            Multipliers of the margins (times no labels) and of xi >= 0.
        v, rho : (s,) array, or coefficients (n,) with ``Kz``, and float
        """
        both = self.part("alpha", alpha), self.part("beta", beta)
        return _judged(self, self.gap_of(self.point(w, b, v, rho), *both))

    def cheapest(
        self, point: Point, alpha: ArrayLike | None, beta: ArrayLike | None
    ) -> ModelCertificate:
        """Gap of a model and multipliers; of the repairs of the model the one that costs least."""
        return _judged(self, self.prove(point, self.part("alpha", alpha), self.part("beta", beta)))

    def z_vector(self, v: ArrayLike | None) -> Array:
        """Checked v (s,), or coefficients (n,)."""
        assert self.z is not None
        if v is None:
            raise InvalidArgumentError("v=None: the correcting function is needed; pass v and rho")
        return vector(self.z, "v", v)

    def of_multipliers(self, alpha: ArrayLike) -> ModelCertificate:
        """Certificate of multipliers alone, at the best multiples of them and of their model.

        Squared hinge without xi >= 0: relative gap 1 - (S m/q)^2, see `refsolve.initial_guess`. A
        gap of infinity for multipliers that prove nothing.
        """
        if not self.squared or self.nonneg or self.plain:
            raise InvalidArgumentError(
                "of_multipliers: expected the squared hinge with Z or Kz, without nonneg_slack"
            )
        proof = self.scale_free(self.part("alpha", alpha))
        if proof is None:
            none = self.real(np.inf)
            return ModelCertificate.of(Proof(none, self.real(0), self.y, none, {}, self.real(0)))
        return _judged(self, proof)


def _judged(problem: Problem, proof: PlusProof) -> ModelCertificate:
    return ModelCertificate.of(proof, doubt=_doubt(problem, proof))


def _doubt(problem: Problem, proof: PlusProof) -> float:
    """How far the same sums in float64 may be off."""
    point, xi, error, gamma = proof.point, proof.xi, proof.error, proof.alpha + proof.beta
    marginal = problem.cost * (abs(xi) if problem.squared else 1)
    x, z = problem.x, problem.z
    reach = 1 + x.reach(point.w) + np.abs(point.b) + abs(xi)
    width = problem.n + x.width + 8
    if z is not None:
        assert point.v is not None
        reach, width = reach + z.reach(point.v) + np.abs(point.rho), width + z.width
    doubt = 4 * EPS * width * ((gamma + marginal) * reach).sum() + 2 * error
    if z is None:
        return float(doubt)
    few = problem.n <= x.width + z.width + 1  # where trainers use kernels
    if z.gram is None and (few or x.gram is not None):
        # v = sum_i (gamma_i - c_i xi_i) z_i/lam is a sum of large terms there
        terms = abs(gamma - problem.cost * (xi if problem.squared else 1)) * z.norms
        doubt += 4 * EPS * (gamma + marginal).sum() * z.norms.max() * terms.sum() / problem.lam
    if problem.squared:  # Q, whose entries are at most that, to 1e-12
        largest = np.minimum((z.norms**2 + 1 + problem.delta) / problem.lam, 1 / problem.cost).max()
        doubt += Q_ERROR / 2 * largest * gamma.sum() ** 2
    return float(doubt)


def views(
    given: list[tuple[str, Rows, str, Array | None]], kept: Array, n: int, blur: float = 0.0
) -> list[Space]:
    """Spaces of features or Gram matrices of n examples, in one precision."""
    sizes = []
    for name, rows, gram_name, gram in given:
        if (rows is None) == (gram is None):
            raise InvalidArgumentError(f"{name}, {gram_name}: expected exactly one of the two")
        data, wanted = (rows, (n,)) if gram is None else (gram, (n, n))
        shape: tuple[int, ...] = getattr(data, "shape", ())
        if len(shape) != 2 or shape[: len(wanted)] != wanted:
            raise InvalidArgumentError(
                f"{name if gram is None else gram_name} of shape {shape}: "
                f"expected {n} rows, one per label"
                + ("" if gram is None else ", and as many columns")
            )
        sizes.append(shape[0] * shape[1])
    real = precision(*sizes)
    return [Space(rows, gram, kept, real, blur) for _, rows, _, gram in given]


def vector(space: Space, name: str, p: ArrayLike) -> Array:
    """A vector that was given: (d,), or coefficients of all n examples."""
    given = np.asarray(p)
    if given.shape != (space.width,) or not np.isfinite(given).all():
        raise InvalidArgumentError(
            f"{name} of shape {given.shape}: expected {space.width} finite numbers"
        )
    return given.astype(space.real)
