"""TopPush: squared hinges of the positives below the best negative, the dual, and the gap between them.

P(w) = 1/2||w||^2 + C sum_i max(0, 1 + t - <x_i,w>)^2, t = max_j <x_j,w>, over positives i and negatives j.
With t a free variable above the negatives' scores it is a sum of losses of linear maps: the dual has an
alpha_i for each hinge, a beta_j for each negative, and t asks for equal sums of both.
"""

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import fenchel
from refsolve._lazy import cp
from refsolve._ranking import check_relevance
from refsolve.canonicalize import Answer, ParametrizedProblem, best_answer
from refsolve.models._ap_rankings import check_classes
from refsolve.models._data import check_examples
from refsolve.models._svm_space import Space, separated
from refsolve.models._symbols import RELEVANT, ROWS, SUM, take
from refsolve.models._written import Written
from refsolve.parameters import constant, parameter
from refsolve.proofs.certificate import Array, Real, candidate
from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.space import Rows
from refsolve.proofs.top_push import Problem
from refsolve.spec import Spec

PRICE = replace(SUM, meaning="weight of the loss, a sum over the positives")

SPEC = Spec(
    title="TopPush",
    kind="models",
    formulas={
        "primal": (
            "P(w) = 1/2||w||^2 + C sum_i max(0, 1 + t - <x_i,w>)^2, t = max_j <x_j,w>,\n"
            "i over the positives, j over the negatives"
        ),
        "dual": (
            "D(alpha,beta) = sum_i alpha_i - sum_i alpha_i^2/(4C) - 1/2||v||^2,\n"
            "v = sum_i alpha_i x_i - sum_j beta_j x_j, alpha, beta >= 0, sum_i alpha_i = sum_j beta_j"
        ),
        "maps": "w = v, alpha_i = 2C max(0, z_i), z_i = 1 + t - <x_i,w>; beta_j = 0 where <x_j,w> < t",
        "gap": (
            "sum_i (C (max(0, z_i) - alpha_i/(2C))^2 + alpha_i max(0, -z_i))\n"
            "+ sum_j beta_j (t - <x_j,w>) + 1/2||w - v||^2 = P - D, every term >= 0"
        ),
    },
    symbols=(PRICE,),
    arguments=(ROWS, RELEVANT, PRICE),
    scaling="C multiplies the sum of squares, without 1/2; the authors' lambda is 1/(2 C P)",
    source="Li, Jin and Zhou 2014, Top Rank Optimization in Linear Time",
    notes=(
        "multipliers are one vector (n,): alpha at the positives, beta at the negatives",
        "no bias: a constant added to all scores changes nothing",
        "one negative that lies among the positives is enough for P* = P(0) = C P, w = 0",
    ),
)


@dataclass(frozen=True)
class TopPushCertificate(ModelCertificate):
    """A `ModelCertificate` with the residuals of the examples, (n,), and drift 1/2||w - v||^2.

    Attributes
    ----------
    w : ndarray of shape (d,)
        The point that P was taken at.
    multipliers : ndarray of shape (n,)
        The repaired alpha and beta.
    """

    w: Array = field(repr=False)
    multipliers: Array = field(repr=False)


class Data(Problem):
    """One checked instance."""

    space: Space

    def certify(self, w: Array | None, given: Array) -> TopPushCertificate:
        """Certificate of any multipliers, and of any w or of that of the multipliers."""
        a, violation = self.repair(given.astype(Real))
        w = self.pull(a).astype(Real) if w is None else w.astype(Real)
        proof = self.prove(w, a)
        return TopPushCertificate.of(
            proof, violation, w=w.astype(float), multipliers=a.astype(float)
        )


def check_data(X: Rows, y: ArrayLike, C: float) -> Data:
    """Validated arguments of a TopPush model."""
    rows = check_examples(X)
    up = check_relevance(check_classes(y, rows.shape[0]))
    return Data(Space(rows), up, PRICE.check(C))


def _multipliers(data: Data, given: ArrayLike) -> Array:
    return candidate("multipliers", given, len(data.up))


def primal(X: Rows, y: ArrayLike, *, w: ArrayLike, C: float) -> float:
    """P(w); see `certificate`."""
    data = check_data(X, y, C)
    return float(data.value(candidate("w", w, data.space.width)))


def dual(X: Rows, y: ArrayLike, *, multipliers: ArrayLike, C: float) -> float:
    """D(alpha, beta), and -inf outside its domain (up to rounding); see `certificate`."""
    data = check_data(X, y, C)
    given = _multipliers(data, multipliers)
    a, violation = data.repair(given)
    if violation > 64 * len(a) * np.finfo(float).eps * abs(given).sum():
        return -np.inf
    return float(data.lower(a))


def certificate(
    X: Rows, y: ArrayLike, *, C: float, multipliers: ArrayLike, w: ArrayLike | None = None
) -> TopPushCertificate:
    """Primal-dual gap of w and multipliers, whoever computed them.

    Parameters
    ----------
    X : (n, d) array or scipy sparse matrix
        Examples.
    y : (n,) array
        Labels: booleans, 0/1 or -1/1; at least one of each.
    C : float
        Weight of the sum of squared hinges.
    multipliers : (n,) array
        alpha at the positives, beta at the negatives. They are clipped at 0, and the class with the
        larger sum is scaled down; how far they were from that is the ``violation``.
    w : (d,) array, optional
        Model; by default the one that the multipliers stand for.

    Raises
    ------
    InvalidParameterError
        Naming the argument.
    """
    data = check_data(X, y, C)
    point = None if w is None else candidate("w", w, data.space.width)
    return data.certify(point, _multipliers(data, multipliers))


# ---- CVXPY ----------------------------------------------------------------------------------


def declaration(X: Rows, y: ArrayLike, *, C: float) -> fenchel.Model:
    """The model as a norm, squared hinges and the bound t on the negatives' scores."""
    return _declared(check_data(X, y, C))


def _declared(data: Data) -> fenchel.Model:
    rows = data.space.factor()
    up, down = rows[data.up], rows[~data.up]
    P, N = len(up), len(down)
    hinges = fenchel.squared_hinge(np.full(P, 2 * data.C))
    ones = np.ones(P)
    terms = {
        "alpha": fenchel.Term(hinges, {"w": -up, "t": ones[:, None]}, ones),
        "beta": fenchel.Term(fenchel.nonpositive(), {"w": down, "t": np.full((N, 1), -1.0)}),
    }
    return fenchel.Model({"w": fenchel.Block(rows.shape[1]), "t": fenchel.Block(1, 0.0)}, terms)


def canonicalize_primal(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``top_push.primal``: x is w (d,), dual the multipliers (n,)."""
    return _canonicalize(given, "primal")


def canonicalize_dual(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``top_push.dual``: x is the multipliers (n,), dual is w."""
    return _canonicalize(given, "dual")


def _canonicalize(given: dict[str, Any], operation: str) -> ParametrizedProblem:
    """Primal and dual, divided by a value of P that is easily reached and by their curvature."""
    data = check_data(*take(given, SPEC.arguments))
    model = _declared(data)
    signs = np.where(data.up, 1.0, -1.0)
    U = min(data.C * float(data.up.sum()), separated(data.space.factor(), signs))
    reach = max(model.reach("alpha"), model.reach("beta")) or 1.0

    def finish(found: dict[str, Array]) -> Answer:
        a = np.zeros(len(data.up))
        a[data.up], a[~data.up] = np.maximum(0, found["alpha"]), np.maximum(0, found["beta"])
        repaired = data.repair(a.astype(Real))[0]
        total = repaired[data.up].sum()
        if total > 0:  # the best multiple
            repaired *= total / (2 * (total - data.lower(repaired)))
        points = [None, found["w"]] if "w" in found else [None]
        return best_answer(operation, (data.certify(w, repaired) for w in points), "multipliers")

    own = 0.5 / data.C
    dual = fenchel.dual(model, U / max(U * (reach * reach + own), 1.0))
    return fenchel.canonicalized(
        operation, fenchel.primal(model, U, {"w": 1 / reach}), dual, finish
    )


# ---- as it is written -----------------------------------------------------------------------


def problem_primal(arguments: dict[str, Any]) -> Written:
    """1/2||w||^2 + C sum_i xi_i^2 with <w,x_i> >= 1 + t - xi_i, and <w,x_j> <= t of the negatives."""
    data = check_data(*take(arguments, SPEC.arguments))
    rows = data.space.dense().astype(float)
    w, t = cp.Variable(rows.shape[1], name="w"), cp.Variable(name="t")
    xi = cp.Variable(int(data.up.sum()), name="xi")
    rules = {
        "alpha": constant("X_P", rows[data.up]) @ w >= 1 + t - xi,
        "beta": constant("X_N", rows[~data.up]) @ w <= t,
        "xi >= 0": xi >= 0,
    }
    objective = cp.sum_squares(w) / 2 + parameter("C", arguments["C"], 0) * cp.sum_squares(xi)
    return cp.Minimize(objective), rules


def problem_dual(arguments: dict[str, Any]) -> Written:
    """Sum alpha - sum alpha^2/(4C) - 1/2||X_P'alpha - X_N'beta||^2, sums equal, alpha, beta >= 0."""
    data = check_data(*take(arguments, SPEC.arguments))
    rows = data.space.dense().astype(float)
    alpha = cp.Variable(int(data.up.sum()), name="alpha")
    beta = cp.Variable(int((~data.up).sum()), name="beta")
    w = constant("X_P", rows[data.up]).T @ alpha - constant("X_N", rows[~data.up]).T @ beta
    objective = cp.sum(alpha) - cp.sum_squares(alpha) / (4 * parameter("C", arguments["C"], 0))
    rules = {"t": cp.sum(alpha) == cp.sum(beta), "alpha >= 0": alpha >= 0, "beta >= 0": beta >= 0}
    return cp.Maximize(objective - cp.sum_squares(w) / 2), rules
