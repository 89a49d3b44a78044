"""The certificate of an SVM+ from arguments as users give them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve.errors import InvalidParameterError
from refsolve.models._svm_plus import Data, Model, PlusCertificate, check_data
from refsolve.models._svm_space import scalar
from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.multipliers import Offset
from refsolve.proofs.space import Rows
from refsolve.proofs.svm_plus import Point

#: w = 0 is as good as w up to this fraction of P, and w as small as this beside its parts.
AS_GOOD, MEETING = 1e-6, 1e-4


def certify(
    data: Data, point: Point, alpha: Array, beta: Array, eta: Array | None = None
) -> PlusCertificate:
    """Certificate of any point and any multipliers; both are repaired. ``eta``: own slacks as given."""
    assert point.v is not None
    short = 0.0
    if not data.soft or eta is not None:
        xi = data.at(point.v, point.rho).xi + (0 if eta is None else eta)
        short = data.short(point.w, point.b, xi)
    proof = data.prove(data.snapped(point), alpha, beta)
    moved = float(np.sqrt(data.x.square(proof.point.w - point.w)))
    violation = max(data.violation(alpha, beta), short)
    return PlusCertificate.of(
        proof,
        violation,
        data.x.expanded(proof.residuals),
        moved,
        doubt=data.doubt(proof),
        model=to_model(data, proof.point, proof.xi),
        alpha=data.x.expanded(proof.alpha),
        beta=data.x.expanded(proof.beta),
        collapsed=_collapsed(data, proof.point, proof.alpha, proof.beta),
    )


def _collapsed(data: Data, point: Point, alpha: Array, beta: Array) -> bool:
    """Whether w = 0 is as good, and w nothing beside the parts of it that the classes pull."""
    assert point.v is not None
    # w is half of sum(alpha) times the distance of two points of the classes' hulls
    size = np.sqrt(data.x.square(point.w))
    if not size <= MEETING * alpha.sum() / 2 * data.x.spread():
        return False
    w = 0 * point.w
    xi = data.at(point.v, point.rho).xi
    b = Real(0) if data.penal else data.best_bias(w, xi)
    proof = data.prove(data.snapped(Point(w, b, point.v, point.rho)), alpha, beta)
    lost = proof.primal - proof.dual
    return bool(lost <= AS_GOOD * max(abs(proof.primal), abs(proof.dual)))


def to_model(data: Data, point: Point, own: Array | None = None) -> Model:
    """The `Model` of a point, slacks for all rows; those of the examples may be given."""
    assert point.v is not None
    xi = data.z.all_values(point.v) + point.rho
    xi = data.labels * xi if data.signed else xi
    if own is not None:
        xi[data.x.kept] = own
    w, v = point.w.astype(float), point.v.astype(float)
    return Model(w, float(point.b), v, float(point.rho), xi.astype(float))


def multipliers(data: Data, alpha: ArrayLike, beta: ArrayLike | None) -> tuple[Array, Array]:
    """Checked multipliers of the examples."""
    if beta is not None and not data.nonneg:
        raise InvalidParameterError("beta", beta, "none without nonneg_slack", "drop beta")
    return data.part("alpha", alpha), data.part("beta", beta)


def _take_point(
    data: Data,
    weights: tuple[Array | None, Array | None],
    b: float | None,
    rho: float | None,
    both: tuple[Array, Array],
    eta: Array | None,
) -> Point:
    """The model as given; what is missing is that of the multipliers."""
    alpha, beta = data.repaired(*both)
    w, v = weights
    if (v is None) != (rho is None):
        raise InvalidParameterError("rho", rho, "v (or correction_coef) with rho", "pass both")
    g, _ = data.best(alpha + beta)
    if v is not None:
        own = 0.0 if eta is None else eta / np.sqrt(data.delta)
        g = data.at(v, scalar("rho", rho), own)
    fitted, w = w is None, data.x.pull(alpha * data.y) if w is None else w
    offset: Offset | None = None if b is None else scalar("b", b)
    if b is None and data.penal:
        offset = (alpha * data.y).sum() if fitted else best_penalised(data, w, g.xi)
    if v is None:
        return data.with_offsets(w, g, offset)
    return Point(w, data.best_bias(w, g.xi) if offset is None else offset, g.v, g.rho)


def best_penalised(data: Data, w: Array, xi: Array) -> Offset:
    """The b nearest to 0 with which the margins hold, or the one whose least is largest."""
    short = 1 - data.margins(w, Real(0)) - xi
    low, high = short[data.up].max(), -short[~data.up].max()
    return min(max(Real(0), low), high) if low <= high else (low + high) / 2


@dataclass(frozen=True)
class Formulas:
    """The functions of an SVM+ with one of the losses, as its module offers them."""

    squared: bool

    def recover(
        self,
        alpha: ArrayLike,
        X: Rows = None,
        y: ArrayLike | None = None,
        Z: Rows = None,
        *,
        beta: ArrayLike | None = None,
        **given: Any,
    ) -> Model:
        """(w, b, v, rho, xi) that the multipliers stand for; see `certificate` for the arguments."""
        data = check_data(self.squared, {"X": X, "y": y, "Z": Z, **given})
        parts = data.repaired(*multipliers(data, alpha, beta))
        point, (g, _) = data.model_of(*parts), data.best(parts[0] + parts[1])
        return to_model(data, point, data.at(g.v, point.rho, g.h).xi)

    def certificate(
        self,
        X: Rows = None,
        y: ArrayLike | None = None,
        Z: Rows = None,
        *,
        alpha: ArrayLike | None = None,
        beta: ArrayLike | None = None,
        w: ArrayLike | None = None,
        coef: ArrayLike | None = None,
        b: float | None = None,
        v: ArrayLike | None = None,
        correction_coef: ArrayLike | None = None,
        rho: float | None = None,
        eta: ArrayLike | None = None,
        **given: Any,
    ) -> PlusCertificate:
        """Primal-dual gap of a model and of multipliers, whoever computed them.

        Parameters
        ----------
        X, Z : (n, d) and (n, s) arrays or sparse matrices
            Or ``K`` and ``Kz`` (n, n), in any combination.
        y : (n,) array
            Labels: booleans, 0/1 or -1/1.
        alpha : (n,) array
            Multipliers of the margins; alpha and beta are moved onto the dual's constraints.
        beta : (n,) array, optional
            Multipliers of xi >= 0, if it is kept; 0 by default, then raised until the sums agree.
        w : (d,) array, or coef : (n,) array, optional
            w = sum_i coef_i x_i; by default the one of alpha.
        b : float, optional
            By default the best for w and xi.
        v : (s,) array, or correction_coef : (n,) array, with rho : float, optional
            By default those of the multipliers, rho the best. An infeasible model is repaired: rho
            raised, all scaled up, or own slacks, whichever is cheapest.
        eta : (n,) array, optional
            Own slacks; by default the best.
        **given
            ``C``, ``lam``, ``sample_weight`` (n,), ``nonneg_slack``, ``label_signed``,
            ``penalize_bias``, ``free_slack``, ``K``, ``Kz``, and ``blur``, the relative error of
            their entries in units of eps, where they were computed.

        Raises
        ------
        InvalidParameterError
            Naming the argument; `InvalidGramError` for a Gram matrix that is none.
        """
        data = check_data(self.squared, {"X": X, "y": y, "Z": Z, **given})
        if alpha is None:
            fix = "pass alpha=...: they bound the optimum from below"
            raise InvalidParameterError("alpha", None, "multipliers (n,)", fix)
        both = multipliers(data, alpha, beta)
        if eta is not None and (not data.soft or (v is None and correction_coef is None)):
            raise InvalidParameterError("eta", eta, "v, rho and free_slack > 0 with it", "drop eta")
        own = None if eta is None else data.part("eta", eta)
        correction = data.z.given("v", v, "correction_coef", correction_coef)
        weights = data.x.given("w", w, "coef", coef), correction
        return certify(data, _take_point(data, weights, b, rho, both, own), *both, own)

    def primal(
        self,
        X: Rows = None,
        y: ArrayLike | None = None,
        Z: Rows = None,
        *,
        w: ArrayLike | None = None,
        coef: ArrayLike | None = None,
        b: float,
        v: ArrayLike | None = None,
        correction_coef: ArrayLike | None = None,
        rho: float,
        eta: ArrayLike | None = None,
        **given: Any,
    ) -> float:
        """P of a model, +inf if it breaks a constraint by more than rounding; see `certificate`."""
        data = check_data(self.squared, {"X": X, "y": y, "Z": Z, **given})
        weights = data.x.given("w", w, "coef", coef)
        correction = data.z.given("v", v, "correction_coef", correction_coef)
        if weights is None or correction is None:
            name = "w" if weights is None else "v"
            raise InvalidParameterError(name, None, "a whole model", f"pass {name}=...")
        point = Point(weights, scalar("b", b), correction, scalar("rho", rho))
        if eta is not None and not data.soft:
            raise InvalidParameterError("eta", eta, "free_slack > 0 with it", "drop eta")
        g = data.at(correction, point.rho)
        if eta is not None:
            g = data.at(correction, point.rho, data.part("eta", eta) / np.sqrt(data.delta))
        elif data.soft:
            g, _ = data.feasible(point)
        size = 1 + max(abs(data.x.values(weights)).max(), abs(point.b), abs(g.xi).max())
        if data.short(weights, point.b, g.xi) > 64 * np.finfo(float).eps * size:
            return np.inf
        return float(data.objective(weights, point.b, g.xi, g))

    def dual(
        self,
        X: Rows = None,
        y: ArrayLike | None = None,
        Z: Rows = None,
        *,
        alpha: ArrayLike,
        beta: ArrayLike | None = None,
        **given: Any,
    ) -> float:
        """D of multipliers, and -inf outside its domain (up to rounding); see `certificate`."""
        data = check_data(self.squared, {"X": X, "y": y, "Z": Z, **given})
        both = multipliers(data, alpha, beta)
        size = abs(both[0]).sum() + abs(both[1]).sum() + (0 if data.squared else data.cost.sum())
        if data.violation(*both) > 64 * np.finfo(float).eps * size:
            return -np.inf
        return float(data.lower(*data.repaired(*both)))

    def relative_gap(
        self,
        alpha: ArrayLike,
        X: Rows = None,
        y: ArrayLike | None = None,
        Z: Rows = None,
        **given: Any,
    ) -> float:
        """1 - (S m/q)^2: bound on (P - D)/P of the best multiples of alpha and its model; inf if m <= 0.

        alpha is clipped and balanced. Not for nonneg_slack and penalize_bias.
        """
        data = check_data(self.squared, {"X": X, "y": y, "Z": Z, **given})
        if data.nonneg or data.penal:
            raise InvalidParameterError(
                "nonneg_slack", data.nonneg, "neither nonneg_slack nor penalize_bias",
                "use certificate",
            )  # fmt: skip
        proof = data.scale_free(data.part("alpha", alpha))
        return np.inf if proof is None else float(proof.gap / proof.primal)
