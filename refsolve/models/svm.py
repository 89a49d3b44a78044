"""The SVM with a free bias, hinge or squared hinge: what SVM+ is without privileged features.

P(w, b) = 1/2||w||^2 + sum_i C w_i l(1 - y_i (<w,x_i> + b)), l(t) = max(0, t), or its square/2.
D(alpha) = sum alpha - 1/2||sum alpha_i y_i x_i||^2 over alpha >= 0, <alpha,y> = 0, with alpha_i <=
C w_i for the hinge, and less sum alpha_i^2/(2 C w_i) for its square.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import fenchel, initial_guess
from refsolve._lazy import cp
from refsolve.canonicalize import Answer, ParametrizedProblem, best_answer
from refsolve.errors import InvalidParameterError
from refsolve.models._data import check_features
from refsolve.models._svm_space import Space, check_rows, scalar, separated
from refsolve.models._symbols import GRAM, LOSS, OR_GRAM, SIGNS, SUM, WEIGHTS, take
from refsolve.models._written import Written, half_square, linear, upper_bounds, weighted
from refsolve.parameters import constant, parameter
from refsolve.proofs import svm_plus
from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.multipliers import Offset
from refsolve.proofs.space import Rows
from refsolve.spec import Spec

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
            "squares sum_i (alpha_i max(0, -m_i) + C w_i/2 (max(0, m_i) - alpha_i/(C w_i))^2)"
        ),
    },
    symbols=(SUM,),
    arguments=(OR_GRAM, SIGNS, SUM, replace(LOSS, default="hinge"), WEIGHTS, GRAM),
    scaling="C multiplies the sum, not the mean (binary_svm has the mean); squares carry 1/2",
    source="Cortes and Vapnik 1995; Xu et al. 2016, section 2",
    notes=(
        "loss='hinge' (default) or 'squared_hinge'; X (n, d) or a Gram matrix K (n, n)",
        "scikit-learn's LinearSVC has C sum max(0, m)^2, twice this, and penalises b",
        "rows of weight zero are dropped; one class alone is refused",
    ),
)


@dataclass(frozen=True)
class SvmCertificate(ModelCertificate):
    """A `ModelCertificate` with the residuals of the examples, (n,), and drift 1/2||w - X'(alpha y)||^2.

    Attributes
    ----------
    w : ndarray
        (d,), or coefficients (n,) with a Gram matrix.
    b : float
    alpha : ndarray of shape (n,)
        The repaired multipliers.
    """

    w: Array = field(repr=False)
    b: float
    alpha: Array = field(repr=False)


class Data(initial_guess.Problem):
    """One checked instance; y and cost = C w_i are of the examples of positive weight."""

    x: Space

    def repair(self, alpha: Array) -> tuple[Array, float]:
        """A feasible alpha, and by how much the given one was not."""
        return self.repaired(alpha, 0 * alpha)[0], self.violation(alpha, 0 * alpha)

    def loss(self, w: Array, b: Offset) -> Real:
        """P."""
        return self.objective(w, b, np.maximum(0, 1 - self.margins(w, b)))

    def certify(self, w: Array, b: Offset, alpha: Array, off: float = 0.0) -> SvmCertificate:
        """Certificate of any (w, b) and any alpha."""
        violation = max(off, self.violation(alpha, 0 * alpha))
        proof = self.prove(svm_plus.Point(w, b), alpha, 0 * alpha)
        return SvmCertificate.of(
            proof,
            violation,
            self.x.expanded(proof.residuals),
            doubt=self.doubt(proof),
            w=w.astype(float),
            b=float(b),
            alpha=self.x.expanded(proof.alpha),
        )


def check_data(
    X: Rows,
    y: ArrayLike,
    C: float,
    loss: str = "hinge",
    sample_weight: ArrayLike | None = None,
    K: ArrayLike | None = None,
    blur: float = 0.0,
) -> Data:
    """Validated arguments of an SVM."""
    rows, gram, n = check_features("X", X, "K", K)
    labels, weight, kept = check_rows(y, n, sample_weight)
    C = SUM.check(C)
    if loss not in LOSSES:
        raise InvalidParameterError("loss", loss, " or ".join(map(repr, LOSSES)), "choose one")
    squared = loss == "squared_hinge"
    return Data(Space(rows, gram, kept, blur=blur), labels[kept], C * weight, squared=squared)


def primal(
    X: Rows = None,
    y: ArrayLike = (),
    *,
    C: float,
    w: ArrayLike | None = None,
    coef: ArrayLike | None = None,
    b: float,
    **given: Any,
) -> float:
    """P(w, b); see `certificate`."""
    data = check_data(X, y, C, **given)
    point = data.x.given("w", w, "coef", coef)
    if point is None:
        raise InvalidParameterError("w", None, "a model", "pass w=... or coef=...")
    return float(data.loss(point, scalar("b", b)))


def dual(X: Rows = None, y: ArrayLike = (), *, C: float, alpha: ArrayLike, **given: Any) -> float:
    """D(alpha), and -inf outside its domain (up to rounding); see `certificate`."""
    data = check_data(X, y, C, **given)
    alpha = data.part("alpha", alpha)
    inside, violation = data.repair(alpha)
    if violation > 64 * np.finfo(float).eps * abs(alpha).sum():
        return -np.inf
    return float(data.lower(inside, 0 * inside))


def certificate(
    X: Rows = None,
    y: ArrayLike = (),
    *,
    C: float,
    alpha: ArrayLike,
    w: ArrayLike | None = None,
    coef: ArrayLike | None = None,
    b: float | None = None,
    loss: str = "hinge",
    sample_weight: ArrayLike | None = None,
    K: ArrayLike | None = None,
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
    alpha = data.part("alpha", alpha)
    point = data.x.given("w", w, "coef", coef)
    if point is None:
        point = data.x.pull(data.repair(alpha)[0] * data.y)
    return data.certify(point, data.best_bias(point) if b is None else scalar("b", b), alpha)


# ---- CVXPY ----------------------------------------------------------------------------------


def declaration(X: Rows, y: ArrayLike, **given: Any) -> fenchel.Model:
    """The model as a sum of a norm and losses, in the features or in a factor of K."""
    return _declared(check_data(X, y, **given))


def _declared(data: Data) -> fenchel.Model:
    labels, cost = data.y.astype(float)[:, None], data.cost.astype(float)
    loss = fenchel.squared_hinge(cost) if data.squared else fenchel.hinge(cost)
    rows = labels * data.x.factor()
    term = fenchel.Term(loss, {"w": -rows, "b": -labels}, np.ones(len(rows)))
    blocks = {"w": fenchel.Block(rows.shape[1]), "b": fenchel.Block(1, 0.0)}
    return fenchel.Model(blocks, {"alpha": term})


def _proofs(data: Data, alpha: Array, points: list[tuple[Array, Any]]) -> Iterator[SvmCertificate]:
    """Certificates of alpha with its own model, and with each of the points."""
    repaired, off = data.repair(alpha.astype(Real))
    if data.squared and repaired.sum() > 0:  # the best multiple
        repaired *= repaired.sum() / (2 * (repaired.sum() - data.lower(repaired, 0 * repaired)))
    u = data.x.pull(repaired * data.y)
    every = [(u, data.best_bias(u)), *points, *((w, data.best_bias(w)) for w, _ in points)]
    return (data.certify(w, b, repaired, off) for w, b in every)


def canonicalize_primal(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``svm.primal``: x is w (d,), or coef (n,) with K; dual alpha."""
    return _canonicalize(given, "primal")


def canonicalize_dual(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``svm.dual``: x is alpha (n,), dual is w or coef."""
    return _canonicalize(given, "dual")


def _canonicalize(given: dict[str, Any], operation: str) -> ParametrizedProblem:
    """Primal and dual, divided by a value of P that is easily reached and by their curvature."""
    data = check_data(*take(given, SPEC.arguments))
    model = _declared(data)
    start = float(data.loss(np.zeros(data.x.width, Real), Real(0)))
    U = min(start, separated(data.x.factor(), data.y.astype(float)))
    own = float(1 / data.cost.min()) if data.squared else 0.0
    t = model.reach("alpha") or 1.0

    def finish(found: dict[str, Array]) -> Answer:
        points = []
        if "w" in found:
            points.append((data.x.from_factor(found["w"]), Real(found["b"][0])))
        return best_answer(operation, _proofs(data, found["alpha"], points), "alpha")

    dual = fenchel.dual(model, U / max(U * (t * t + own), 1.0))
    return fenchel.canonicalized(operation, fenchel.primal(model, U, {"w": 1 / t}), dual, finish)


# ---- as it is written -----------------------------------------------------------------------


def problem_primal(arguments: dict[str, Any]) -> Written:
    """1/2||w||^2 + C sum_i w_i xi_i with y_i (<w,x_i> + b) >= 1 - xi_i."""
    data, C, weight = _with_costs(arguments)
    _, f, norm = linear(data.x, "w", "X", "K")
    b, xi = cp.Variable(name="b"), cp.Variable(data.n, name="xi")
    rules = {"alpha": cp.multiply(constant("y", data.y), f + b) >= 1 - xi}
    if data.squared:
        return cp.Minimize(norm + C / 2 * weighted(weight, cp.square(xi))), rules
    return cp.Minimize(norm + C * weighted(weight, xi)), rules | {"beta": xi >= 0}


def problem_dual(arguments: dict[str, Any]) -> Written:
    """Sum alpha - 1/2||sum_i alpha_i y_i x_i||^2 on 0 <= alpha_i <= C w_i, <alpha,y> = 0."""
    data, C, weight = _with_costs(arguments)
    alpha, y = cp.Variable(data.n, name="alpha"), constant("y", data.y)
    objective = cp.sum(alpha) - half_square(data.x, cp.multiply(y, alpha), "X", "K")
    rules = {"b": y @ alpha == 0, "alpha >= 0": alpha >= 0}
    if data.squared:
        objective -= weighted(1 / weight, cp.square(alpha), "omega^-1") / (2 * C)
        return cp.Maximize(objective), rules
    return cp.Maximize(objective), rules | {"xi": alpha <= upper_bounds(C, weight)}


def _with_costs(arguments: dict[str, Any]) -> tuple[Data, Any, Array]:
    """The data, C as a parameter, and the weights of the examples."""
    data, C = check_data(*take(arguments, SPEC.arguments)), float(arguments["C"])
    return data, parameter("C", C, 0), np.asarray(data.cost, dtype=float) / C
