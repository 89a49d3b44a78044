"""Certified duality gap of a trained model, from its weights and its dual point.

With V = A'X and mass_i = C weight_i the gap of P = 1/2||W||^2 + C sum_i weight_i L_i is

    P(W) − D(A) = 1/2||W − V||^2 + sum_i [mass_i L(z_i) + (mass_i L)*(x_i) − <z_i, x_i>],

a sum of nonnegative terms: no two large numbers are subtracted. With a Gram matrix K the model is
W = sum_i b_i phi(x_i), ||W||^2 = tr(B'KB), and the scores are KB. Sums run in extended precision
where they are not too long. Nothing of the trainer is used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np

from refsolve import catalogue
from refsolve.proofs import families
from refsolve.proofs.loss import Loss
from refsolve.proofs.model import Proof
from verification.errors import InvalidArgumentError, NoDualPointError

Array = np.ndarray[Any, Any]
EPS = float(np.finfo(np.float64).eps)
ROWS_AT_ONCE = 4096
#: Multiplications per matrix product up to which extended precision is affordable.
EXTENDED = 4e8


@dataclass(frozen=True)
class ModelCertificate:
    """What is certain about a trained model.

    Attributes
    ----------
    primal : float
        Upper bound on P(W) = 1/2||W||^2 + C sum_i weight_i L_i.
    dual : float
        A lower bound on the optimum, ``primal − gap`` less the rounding in it.
    gap : float
        Upper bound on P(W) − min P; includes ``error``.
    error : float
        Part of ``gap`` that only covers rounding in this computation.
    moved : float
        Largest distance by which a dual block was moved to be feasible.
    terms : mapping
        The nonnegative terms whose sum is ``gap``.
    """

    primal: float
    dual: float
    gap: float
    error: float
    moved: float
    terms: Mapping[str, float] = field(default_factory=dict, hash=False, compare=False)

    @classmethod
    def of(cls, proof: Proof, **more: float) -> Self:
        """The bounds of a proof, rounded outwards."""
        terms = {name: float(term) for name, term in proof.terms.items()}
        error = float(proof.error)
        return cls(*proof.bounds(), error, proof.moved, terms | {"rounding": error}, **more)

    @property
    def relative_gap(self) -> float:
        """``gap / max(|primal|, |dual|)``; 0 if all three are 0."""
        size = max(abs(self.primal), abs(self.dual))
        return self.gap / size if size > 0 else 0.0


def erm(
    coef: Any,
    X: Any = None,
    y: Any = None,
    *,
    loss: str,
    C: float = 1.0,
    k: int | None = None,
    gamma: float | None = None,
    dual: Any = None,
    sample_weight: Any = None,
    costs: Any = None,
    K: Any = None,
    kept: Any = None,
) -> ModelCertificate:
    """Certify W for min 1/2||W||^2 + C sum_i weight_i L(y_i, W x_i).

    Parameters
    ----------
    coef : (m, d) array
        Weights, one row per class. An intercept is a column of ones in X. With ``K`` the expansion
        B (n, m) of W = sum_i b_i phi(x_i).
    X : (n, d) array or sparse matrix
        Not with ``K``.
    y : (n,) array of int, or (n, m) of 0 and 1
        Class of each row, 0..m-1; for multilabel losses the row's labels.
    loss : str
        A convex loss of `refsolve`: ``topk_hinge_alpha``, ``softmax``, ``ova_hinge``, ...
    C : float
        1/(lambda n).
    k, gamma : as the loss declares them.
    dual : (n, m) array or sparse matrix, optional
        Blocks a_i with W = A'X, in units of C; they are repaired to feasibility. Smooth losses
        can do without (their gradients are a dual point), hinges cannot.
    sample_weight : (n,) array, optional
        Weights >= 0.
    costs : (m,) or (n, m) array, optional
        Margins c; the loss's default unless given.
    K : (n, n) array, optional
        Gram matrix instead of X.
    kept : (n, m) array of bool, optional
        Softmax on these classes only (the true one among them), as in a convex step of the
        truncated loss.

    Returns
    -------
    ModelCertificate

    Raises
    ------
    NoDualPointError
        For a hinge without ``dual``: W alone does not determine a useful dual point.
    InvalidArgumentError
        If shapes, labels or weights do not fit.
    """
    problem = _Problem(coef, X, y, loss, C, k, gamma, dual, sample_weight, costs, K, kept)
    if dual is None and not problem.smooth:
        raise NoDualPointError(
            f"dual=None: {loss} is not smooth, so the weights alone give no dual point; pass the "
            "(n, m) array of dual blocks, e.g. the trainer's dual_coef_"
        )
    return problem.certify()


class _Problem:
    """Checked arguments of `erm`, and the sums over rows."""

    def __init__(
        self,
        coef: Any,
        X: Any,
        y: Any,
        loss: str,
        C: float,
        k: int | None,
        gamma: float | None,
        dual: Any,
        sample_weight: Any,
        costs: Any,
        K: Any,
        kept: Any,
    ) -> None:
        self.gram = K is not None
        self.X = np.asarray(K) if self.gram else X
        W = np.asarray(coef, dtype=np.float64)
        self.coef = W.T if self.gram and W.ndim == 2 else W  # (m, d), or (m, n) with a Gram matrix
        self.module, self.params = _loss(loss, k, gamma)
        self.stem, self.family = loss, families.of(self.module)
        self.labels, self.weights, self.A = _check(
            self.coef, self.X, y, C, sample_weight, dual, self.family.name == "multilabel"
        )
        self.C, self.costs = C, costs
        self.n, self.m = self.X.shape[0], len(self.coef)
        self.kept = None if kept is None else np.asarray(kept, dtype=bool)
        if self.kept is not None and (loss != "softmax" or self.kept.shape != (self.n, self.m)):
            raise InvalidArgumentError(
                f"kept of shape {self.kept.shape} with loss={loss!r}: expected ({self.n}, {self.m}) "
                "and 'softmax', of which the truncated loss is made"
            )
        extended = self.n * self.m * self.X.shape[1] <= EXTENDED
        self.real: Any = np.longdouble if extended else np.float64
        self.eps = float(np.finfo(self.real).eps)

    @property
    def smooth(self) -> bool:
        """Whether the gradients of the losses are a dual point."""
        return self._at(slice(0, 1)).modulus > 0

    def _at(self, rows: slice) -> Loss:
        """The loss of some rows."""
        labels = self.labels[rows]
        return Loss(self.stem, self.params, self.family.size(self.m), labels)

    def certify(self) -> ModelCertificate:
        """All sums; see the module."""
        real, eps, n, m = self.real, self.eps, self.n, self.m
        W = self.coef.astype(real)
        norms, reach = self._sizes(W)
        residual, primal, error, moved = real(0), real(0), 0.0, 0.0
        V = np.zeros(
            (m, self.X.shape[1]), dtype=real
        )  # or A itself, transposed, with a Gram matrix
        spread = np.zeros(m)  # sum_i |a_ij| ||x_i||, for the rounding of V
        for rows in _chunks(n):
            mass = (self.C * self.weights[rows]).astype(real)
            part = self._rows(rows)
            scores = np.asarray(part @ W.T, dtype=real)
            one = self._at(rows)
            z = one.margins(scores, self.labels[rows], self._costs(one, rows))
            if self.kept is not None:
                z = np.where(families.others(self.kept[rows], self.labels[rows]), z, -np.inf)
            q, off = self._dual(one, rows, z, mass)
            moved = max(moved, off)
            bound, terms = self._terms(one, z, q)
            residual += mass @ terms
            primal += mass @ bound
            blocks = one.block(q, self.labels[rows]) * mass[:, None]
            if self.gram:
                V[:, rows] = blocks.T
            else:
                V += np.asarray(part.T @ blocks).T
            spread += np.abs(blocks).T.astype(float) @ norms[rows]
            # scores are wrong by at most (d + 2) eps times this, a residual by twice that per term
            slip = (self.X.shape[1] + 2) * eps * 2 * reach[rows]
            sizes = np.abs(np.where(np.isfinite(z), z, 0)).max(axis=1).astype(float) + 1
            many = 1 if self.family.name == "multiclass" else m  # one term, or one per class
            error += float(mass @ (2 * many * slip + 4 * (m + 4) * eps * sizes * many))
        apart, norm, slip = self._drift(W, V, spread)
        error += slip
        summation = (min(n, ROWS_AT_ONCE) + 2) * eps  # longest sum taken in one go
        error += summation * float(residual)
        gap = float(residual) + apart**2 / 2 + error
        upper = (
            float(primal + norm / 2) + error + summation * float(primal) + (n + W.size) * eps * norm
        )
        upper += EPS * abs(upper)  # rounded to a float
        named = {"1/2||W - A'X||^2": apart**2 / 2, "Fenchel-Young gaps": float(residual)}
        return ModelCertificate(upper, upper - gap, gap, error, moved, named | {"rounding": error})

    def _rows(self, rows: slice) -> Any:
        part = self.X[rows]
        return part.astype(self.real) if hasattr(part, "tocsr") else np.asarray(part, self.real)

    def _sizes(self, W: Array) -> tuple[Array, Array]:
        """||x_i||, and a bound on sum_l |x_il| |w_jl| for every j."""
        if self.gram:
            reach = (np.abs(self.X) @ np.abs(self.coef.T)).max(axis=1)
            return np.sqrt(np.maximum(self.X.diagonal(), 0.0)), reach
        norms = np.sqrt(_squares(self.X))
        return norms, norms * float(np.sqrt((W * W).sum(axis=1)).max())

    def _costs(self, one: Loss, rows: slice) -> Array:
        """Margins over the coordinates of z."""
        labels = self.labels[rows]
        n = len(labels)
        if self.costs is None:
            return np.broadcast_to(
                self.family.default_costs(one.default_cost, labels, one.d), (n, one.d)
            )
        given = np.asarray(self.costs, dtype=np.float64)
        c = np.broadcast_to(given if given.ndim == 1 else given[rows], (n, self.m))
        return families.others(c, labels) if self.family.name == "multiclass" else c

    def _dual(self, one: Loss, rows: slice, z: Array, mass: Array) -> tuple[Array, float]:
        """Feasible dual points, and the largest distance by which a block given was moved."""
        if self.A is None:
            return one.repair(one.maximiser(z)), 0.0
        block = self.A[rows].toarray() if hasattr(self.A, "toarray") else self.A[rows]
        given = one.family.coordinates(np.asarray(block, dtype=self.real), self.labels[rows])
        q = one.repair(given / np.where(mass > 0, mass, 1.0)[:, None])
        if self.kept is not None:  # the classes that are dropped have no mass
            q = np.where(np.isfinite(z), q, 0)
        if not one.generator.shifted:
            q = q * (mass > 0)[:, None]
        off = np.sqrt(((q * mass[:, None] - given) ** 2).sum(axis=1)).max(initial=0)
        return q, float(off)

    def _terms(self, one: Loss, z: Array, q: Array) -> tuple[Array, Array]:
        """Upper bounds on the losses L(z) and on the Fenchel–Young residuals at the dual points q.

        Both from the same point of the conjugate's domain, so that their difference is the dual's term.
        """
        if not one.generator.rational:
            point = one.maximum(z)
            return one.value_bounds(z, point)[1], one.fenchel_young(z, q, point)
        terms = one.fenchel_young(z, q)
        if one.modulus == 0 and not one.domain.cone:
            return one.value_bounds(z)[1], terms
        return (z * q).sum(axis=1) - one.conjugate(q) + terms, terms

    def _drift(self, W: Array, V: Array, spread: Array) -> tuple[float, float, float]:
        """||W − V||, ||W||^2, and the rounding in half the square of the first."""
        step = W - V
        if not self.gram:
            slip = (self.n + 2) * self.eps * float(np.sqrt((spread**2).sum()))
            apart = float(np.sqrt((step**2).sum()))
            return apart, float((W * W).sum()), apart * slip + slip**2 / 2
        K = self._rows(slice(None))
        squares = [float(((v @ K) * v).sum()) for v in (step, W)]
        # a Gram matrix is positive semidefinite up to rounding
        sizes = [float((np.abs(v) @ np.abs(K) * np.abs(v)).sum()) for v in (step, W)]
        slip = 2 * (self.n + 2) * self.eps * sum(sizes)
        return float(np.sqrt(max(squares[0], 0.0))), max(squares[1], 0.0), slip


def _loss(loss: str, k: int | None, gamma: float | None) -> tuple[Any, dict[str, Any]]:
    """Declaration of a loss, and its parameters."""
    known = [s for s in catalogue.stems("losses") if hasattr(catalogue.load(s), "dual_set")]
    if loss not in known:
        raise InvalidArgumentError(f"loss={loss!r}: expected one of {', '.join(known)}")
    module = catalogue.load(loss)
    params: dict[str, Any] = {}
    for name, value in (("k", k), ("gamma", gamma)):
        if name in module.SPEC.names:
            if value is None:
                raise InvalidArgumentError(f"{name}=None: {loss} needs it; pass {name}=...")
            params[name] = int(value) if name == "k" else float(value)
    return module, params


def _chunks(n: int) -> Iterator[slice]:
    for start in range(0, n, ROWS_AT_ONCE):
        yield slice(start, min(start + ROWS_AT_ONCE, n))


def _squares(X: Any) -> Array:
    squares = X.multiply(X) if hasattr(X, "multiply") else np.square(X, dtype=np.float64)
    return np.asarray(squares.sum(axis=1), dtype=np.float64).ravel()


def _check(
    W: Array, X: Any, y: Any, C: float, sample_weight: Any, dual: Any, multilabel: bool
) -> tuple[Array, Array, Any]:
    labels = np.asarray(y)
    if W.ndim != 2 or len(W) < 2 or not np.isfinite(W).all():
        raise InvalidArgumentError(
            f"coef of shape {W.shape}: expected finite weights, one row per class (m >= 2); binary "
            "models with one row stand for the rows (-coef/2, coef/2)"
        )
    if getattr(X, "ndim", 0) != 2 or X.shape[1] != W.shape[1]:
        raise InvalidArgumentError(
            f"X of shape {getattr(X, 'shape', None)}: expected (n, {W.shape[1]}) to fit coef"
        )
    n, m = X.shape[0], len(W)
    if multilabel:
        if labels.shape != (n, m) or not np.isin(labels, (0, 1)).all():
            raise InvalidArgumentError(
                f"y of shape {labels.shape}: expected an ({n}, {m}) array of 0 and 1"
            )
        labels = labels.astype(np.int8)
    elif labels.shape != (n,) or labels.dtype.kind not in "iu":
        raise InvalidArgumentError(
            f"y of shape {labels.shape} and dtype {labels.dtype}: expected {n} class indices; "
            "map labels with np.searchsorted(classes, y)"
        )
    elif n and (labels.min() < 0 or labels.max() >= m):
        raise InvalidArgumentError(f"y: expected class indices 0..{m - 1}, got {labels.max()}")
    if not (np.isfinite(C) and C > 0):
        raise InvalidArgumentError(f"C={C!r}: expected a positive number")
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,) or not (np.isfinite(weights).all() and (weights >= 0).all()):
        raise InvalidArgumentError(f"sample_weight: expected {n} finite numbers >= 0")
    A = dual.tocsr() if hasattr(dual, "tocsr") else dual if dual is None else np.asarray(dual)
    if A is not None:
        entries = A.data if hasattr(A, "tocsr") else A
        if A.shape != (n, m) or not np.isfinite(entries).all():
            raise InvalidArgumentError(
                f"dual of shape {A.shape}: expected finite numbers, ({n}, {m})"
            )
    return labels, weights, A
