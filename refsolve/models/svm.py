"""The SVM with a free bias, hinge or squared hinge: what SVM+ is without privileged features.

P(w, b) = 1/2||w||^2 + sum_i C w_i l(1 - y_i (<w,x_i> + b)), l(t) = max(0, t), or its square/2.
D(alpha) = sum alpha - 1/2||sum alpha_i y_i x_i||^2 over alpha >= 0, <alpha,y> = 0, with alpha_i <=
C w_i for the hinge, and less sum alpha_i^2/(2 C w_i) for its square.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from refsolve._lazy import cp
from refsolve.certificates import Certificate
from refsolve.errors import InvalidParameterError
from refsolve.models._ap_rankings import take
from refsolve.models._svm_space import (
    Space,
    balanced,
    check_features,
    check_rows,
    reach,
    scalar,
    separated,
)
from refsolve.oracle import Answer, Posed, Template
from refsolve.spec import Spec, Symbol, check_vector

Array = np.ndarray[Any, Any]
Real = np.longdouble
BOX = Symbol("C", "weight of the loss, a sum over the examples", low=0, low_open=True)
LOSSES = ("hinge", "squared_hinge")

SPEC = Spec(
    title="SVM with a free bias",
    kind="models",
    formulas={
        "primal": (
            "P(w,b) = 1/2||w||^2 + C sum_i w_i max(0, m_i), m_i = 1 - y_i (<w,x_i> + b),\n"
            "or with squares 1/2||w||^2 + C/2 sum_i w_i max(0, m_i)^2"
        ),
        "dual": (
            "D(alpha) = sum_i alpha_i - 1/2 <alpha, (K * yy') alpha>, 0 <= alpha_i <= C w_i,\n"
            "<alpha,y> = 0; with squares no upper bound, and less sum_i alpha_i^2/(2 C w_i)"
        ),
        "maps": "w = sum_i alpha_i y_i x_i; with squares alpha_i = C w_i max(0, m_i)",
        "gap": (
            "sum_i (C w_i max(0, m_i) - alpha_i m_i) + 1/2||w - X'(alpha y)||^2 = P - D, or with\n"
            "squares sum_i alpha_i max(0, -m_i) + C w_i/2 (max(0, m_i) - alpha_i/(C w_i))^2"
        ),
    },
    symbols=(BOX,),
    scaling="C multiplies the sum, not the mean (binary_svm has the mean); squares carry 1/2",
    source="Cortes and Vapnik 1995; Xu et al. 2016, section 2",
    notes=(
        "loss='hinge' (default) or 'squared_hinge'; X (n, d) or a Gram matrix K (n, n)",
        "scikit-learn's LinearSVC has C sum max(0, m)^2, twice this, and penalises b",
        "rows of weight zero are dropped; one class alone is refused",
    ),
    oracle_only=True,
    reason="scikit-learn trains it; here it is what the gain of SVM+ is measured by",
)


@dataclass(frozen=True)
class SvmCertificate(Certificate):
    """Certificate of an SVM.

    Attributes
    ----------
    gap : float
        P(w, b) - D(alpha) at the repaired alpha, summed from nonnegative terms.
    violation : float
        Largest violation of the dual's constraints by alpha as given.
    distance : float
        sqrt(2 gap), bound on ||w - w*||.
    value, primal, dual : float
        P twice, and D.
    scale : float
        max(|P|, |D|).
    residuals : ndarray of shape (n,)
        What each example adds to the gap.
    drift : float
        1/2||w - sum alpha_i y_i x_i||^2.
    w : ndarray
        (d,), or coefficients (n,) with a Gram matrix.
    b : float
    alpha : ndarray of shape (n,)
        The repaired multipliers.
    """

    primal: float
    dual: float
    residuals: Array
    drift: float
    w: Array = field(repr=False)
    b: float
    alpha: Array = field(repr=False)


@dataclass(frozen=True)
class Data:
    """One checked instance; y and cost = C w_i are of the examples of positive weight."""

    x: Space
    y: Array
    cost: Array
    squared: bool

    def repair(self, alpha: Array) -> tuple[Array, float]:
        """A feasible alpha, and by how much the given one was not."""
        violation = 0.0
        if not self.squared:
            violation = max(0.0, float((alpha - self.cost).max()))
            alpha = np.minimum(alpha, self.cost)
        alpha, off = balanced(alpha, self.y)
        return alpha, max(violation, off)

    def best_bias(self, w: Array) -> Any:
        """A minimiser of P in b, where its slope turns from negative."""
        ends = self.y - self.x.values(w)  # where a margin is 1
        order = np.argsort(ends)
        breaks, cost = ends[order], self.cost[order]
        if not self.squared:  # the slope starts at minus the positives' and gains each one's cost
            slopes = np.cumsum(cost) - self.cost[self.y > 0].sum()
            return breaks[min(int((slopes < 0).sum()), len(breaks) - 1)]
        active = np.maximum(0, self.y * (ends - breaks[:, None]))
        slopes = -(active * (self.cost * self.y)).sum(axis=1)  # linear between the breaks
        k = int((slopes < 0).sum())
        if k in (0, len(breaks)):
            return breaks[min(k, len(breaks) - 1)]
        share = -slopes[k - 1] / (slopes[k] - slopes[k - 1])
        return breaks[k - 1] + share * (breaks[k] - breaks[k - 1])

    def objective(self, w: Array, b: Any) -> Any:
        """P."""
        m = np.maximum(0, 1 - self.y * (self.x.values(w) + b))
        return self.x.square(w) / 2 + (self.cost * (m * m / 2 if self.squared else m)).sum()

    def lower(self, alpha: Array) -> Any:
        """D at a feasible alpha."""
        u = self.x.pull(alpha * self.y)
        own = (alpha * alpha / self.cost).sum() / 2 if self.squared else 0
        return alpha.sum() - self.x.square(u) / 2 - own

    def expanded(self, values: Array) -> Array:
        """Values of the examples for all rows, 0 at those of weight zero."""
        full = np.zeros(self.x.total)
        full[self.x.kept] = values
        return full

    def certify(self, w: Array, b: Any, alpha: Array, off: float = 0.0) -> SvmCertificate:
        """Certificate of any (w, b) and any alpha."""
        alpha, violation = self.repair(alpha)
        u = self.x.pull(alpha * self.y)
        m = 1 - self.y * (self.x.values(w) + b)
        up, down = np.maximum(0, m), np.maximum(0, -m)
        if self.squared:
            residuals = alpha * down + self.cost / 2 * (up - alpha / self.cost) ** 2
        else:
            residuals = (self.cost - alpha) * up + alpha * down
        drift = self.x.square(w - u) / 2
        gap = float(residuals.sum() + drift)
        primal, dual = float(self.objective(w, b)), float(self.lower(alpha))
        return SvmCertificate(
            gap=gap,
            violation=max(off, violation),
            distance=float(np.sqrt(2 * gap)),
            value=primal,
            scale=max(abs(primal), abs(dual)),
            primal=primal,
            dual=dual,
            residuals=self.expanded(residuals.astype(float)),
            drift=float(drift),
            w=w.astype(float),
            b=float(b),
            alpha=self.expanded(alpha.astype(float)),
        )


def check_data(
    X: Any, y: Any, C: Any, loss: Any = "hinge", sample_weight: Any = None, K: Any = None
) -> Data:
    """Validated arguments of an SVM."""
    rows, gram, n = check_features("X", X, "K", K)
    labels, weight, kept = check_rows(y, n, sample_weight)
    C = BOX.check(C)
    if loss not in LOSSES:
        raise InvalidParameterError("loss", loss, " or ".join(map(repr, LOSSES)), "choose one")
    return Data(Space(rows, gram, kept), labels[kept], C * weight, loss == "squared_hinge")


def primal(
    X: Any = None, y: Any = None, *, C: Any, w: Any = None, coef: Any = None, b: Any, **given: Any
) -> float:
    """P(w, b); see `certificate`."""
    data = check_data(X, y, C, **given)
    point = data.x.given("w", w, "coef", coef)
    if point is None:
        raise InvalidParameterError("w", None, "a model", "pass w=... or coef=...")
    return float(data.objective(point, scalar("b", b)))


def dual(X: Any = None, y: Any = None, *, C: Any, alpha: Any, **given: Any) -> float:
    """D(alpha), and -inf outside its domain (up to rounding); see `certificate`."""
    data = check_data(X, y, C, **given)
    alpha = check_vector("alpha", alpha, size=data.x.total).astype(Real)[data.x.kept]
    inside, violation = data.repair(alpha)
    if violation > 64 * np.finfo(float).eps * abs(alpha).sum():
        return -np.inf
    return float(data.lower(inside))


def certificate(
    X: Any = None,
    y: Any = None,
    *,
    C: Any,
    alpha: Any,
    w: Any = None,
    coef: Any = None,
    b: Any = None,
    loss: str = "hinge",
    sample_weight: Any = None,
    K: Any = None,
) -> SvmCertificate:
    """Primal-dual gap of (w, b) and alpha, whoever computed them.

    Parameters
    ----------
    X : (n, d) array or sparse matrix
        Or a Gram matrix ``K`` (n, n).
    y : (n,) array
        Labels: booleans, 0/1 or -1/1.
    C : float
        Weight of the summed loss.
    alpha : (n,) array
        Multipliers; clipped to their bounds, and the heavier class scaled down.
    w : (d,) array, or coef : (n,) array, optional
        w = sum_i coef_i x_i; by default the one of alpha.
    b : float, optional
        By default the best for w.
    loss : {"hinge", "squared_hinge"}
    sample_weight : (n,) array, optional

    Raises
    ------
    InvalidParameterError
        Naming the argument; `InvalidGramError` for a Gram matrix that is none.
    """
    data = check_data(X, y, C, loss, sample_weight, K)
    alpha = check_vector("alpha", alpha, size=data.x.total).astype(Real)[data.x.kept]
    point = data.x.given("w", w, "coef", coef)
    if point is None:
        point = data.x.pull(data.repair(alpha)[0] * data.y)
    return data.certify(point, data.best_bias(point) if b is None else scalar("b", b), alpha)


# ---- CVXPY ----------------------------------------------------------------------------------


def _take(given: dict[str, Any]) -> Data:
    optional = {"X": None, "K": None, "loss": "hinge", "sample_weight": None}
    y, C, X, K, loss, weight = take(given, ("y", "C"), optional)
    return check_data(X, y, C, loss, weight, K)


def _best(data: Data, alpha: Array, *points: tuple[Array, Any]) -> SvmCertificate:
    """The best certificate of alpha with these points or its own."""
    repaired, off = data.repair(alpha.astype(Real))
    if data.squared and repaired.sum() > 0:  # the best multiple
        repaired *= repaired.sum() / (2 * (repaired.sum() - data.lower(repaired)))
    u = data.x.pull(repaired * data.y)
    every = [(u, data.best_bias(u)), *points, *((w, data.best_bias(w)) for w, _ in points)]
    proofs = [data.certify(w, b, repaired, off) for w, b in every]
    return min(proofs, key=lambda proof: proof.gap)


def _scales(data: Data) -> tuple[Array, float, float]:
    """Rows y_i x_i, their reach, and a value of P that is easily reached."""
    G = data.x.factor() * data.y.astype(float)[:, None]
    start = float(data.objective(np.zeros(data.x.size, Real), Real(0)))
    unit = min(start, separated(data.x.factor(), data.y.astype(float)))
    return G, reach(G), unit


def pose_primal(given: dict[str, Any]) -> Posed:
    """Instance of ``svm.primal``: x is w (d,), or coef (n,) with K; dual alpha."""
    data = _take(given)
    return replace(_primal(data, _as_primal), other=_dual(data, _as_primal))


def pose_dual(given: dict[str, Any]) -> Posed:
    """Instance of ``svm.dual``: x is alpha (n,), dual is w or coef."""
    data = _take(given)
    return replace(_dual(data, _as_dual), other=_primal(data, _as_dual))


def _as_primal(proof: SvmCertificate) -> Answer:
    return Answer(proof.w, proof.primal, proof.alpha, proof)


def _as_dual(proof: SvmCertificate) -> Answer:
    return Answer(proof.alpha, proof.dual, proof.w, proof)


def _primal(data: Data, answer: Callable[[SvmCertificate], Answer]) -> Posed:
    G, t, U = _scales(data)
    n = len(data.y)

    def build() -> Template:
        w, b, xi = cp.Variable(G.shape[1]), cp.Variable(), cp.Variable(n, nonneg=True)
        rows, labels = cp.Parameter(G.shape), cp.Parameter(n)
        cost, a = cp.Parameter(n, nonneg=True), cp.Parameter(nonneg=True)
        margins = rows @ w + labels * b + xi >= 1
        loss = cp.sum_squares(cp.multiply(cost, xi)) / 2 if data.squared else cost @ xi
        problem = cp.Problem(cp.Minimize(cp.sum_squares(a * w) / 2 + loss), [margins])
        parameters = {"rows": rows, "labels": labels, "cost": cost, "a": a}
        return Template(problem, parameters, {"w": w, "b": b, "alpha": margins.dual_variables[0]})

    def finish(found: Mapping[str, Any]) -> Answer:
        point = data.x.from_factor(found["w"] / t), Real(found["b"])
        return answer(_best(data, U * found["alpha"], point))

    cost = data.cost.astype(float) / U
    values = {
        "rows": G / t,
        "labels": data.y.astype(float),
        "cost": np.sqrt(cost) if data.squared else cost,
        "a": 1 / t / np.sqrt(U),
    }
    return Posed(("primal", data.squared, G.shape), build, values, finish, 0.0)


def _dual(data: Data, answer: Callable[[SvmCertificate], Answer]) -> Posed:
    G, t, U = _scales(data)
    n = len(data.y)
    own = 1 / np.sqrt(data.cost.astype(float))
    size = max(U * (t * t + (own.max() ** 2 if data.squared else 0)), 1.0)

    def build() -> Template:
        alpha = cp.Variable(n, nonneg=True)
        rows, labels, extra = cp.Parameter(G.T.shape), cp.Parameter(n), cp.Parameter(n, nonneg=True)
        value = cp.sum(alpha) - cp.sum_squares(rows @ alpha) / 2
        constraints = [labels @ alpha == 0]
        if data.squared:
            value -= cp.sum_squares(cp.multiply(extra, alpha)) / 2
        else:
            constraints.append(alpha <= extra)
        parameters = {"rows": rows, "labels": labels, "extra": extra}
        return Template(cp.Problem(cp.Maximize(value), constraints), parameters, {"alpha": alpha})

    def finish(found: Mapping[str, Any]) -> Answer:
        return answer(_best(data, U / size * found["alpha"]))

    root = np.sqrt(U / size)
    extra = root * own if data.squared else data.cost.astype(float) * size / U
    values = {"rows": root * G.T, "labels": data.y.astype(float), "extra": extra}
    return Posed(("dual", data.squared, G.shape), build, values, finish, 0.0)
