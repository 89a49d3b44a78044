"""Pointwise risk: the expected loss at one x, minimised over all scores g of R^m.

R(g) = sum_y p_y L(y, g) for class probabilities p. What its minimisers rank first is what a loss is
calibrated for; see ``docs/calibration.md``. With ``behind=(i, j)`` the scores are confined to
g_i <= g_j: where that costs a positive amount, every minimiser has g_i > g_j.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import catalogue, notation
from refsolve._lazy import cp
from refsolve._types import Array
from refsolve.arguments import scaled_by, take
from refsolve.canonicalize import Answer, ParametrizedProblem, Template
from refsolve.errors import InvalidParameterError
from refsolve.models._symbols import BEHIND, BETA, COSTS, GAMMA, GUESSES, LOSS, PROBABILITIES
from refsolve.models._written import Written
from refsolve.optimality import Term
from refsolve.parameters import constant
from refsolve.proofs import families
from refsolve.proofs.domain import plain
from refsolve.proofs.loss import Loss, module_of
from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.pointwise_risk import Balance
from refsolve.spec import Spec, Symbol, check_matrix, check_vector

SPEC = Spec(
    title="Pointwise risk (expected loss at one x)",
    kind="models",
    formulas={
        "primal": "min over g in R^m of R(g) = sum_y p_y L(y, g), optionally with g_i <= g_j",
        "dual": (
            "max over x_y in the dual set of sum_y p_y (<c,x_y> - h(x_y)),\n"
            "sum_y p_y block(x_y) = 0, or mu (e_i - e_j) with mu >= 0 if g_i <= g_j is asked"
        ),
        "gap": "sum_y p_y (L + L* - <u_y,x_y>) + mu (g_j - g_i) = R(g) - D(x), every term >= 0",
    },
    symbols=(),
    arguments=(PROBABILITIES, replace(LOSS, default="softmax"), GUESSES, GAMMA, BETA, COSTS, BEHIND),
    scaling="p is divided by its sum; R is in the units of the loss",
    source="Lapin et al. 2016, Lemma 1, Definition 1 and Propositions 1-5, 9",
    notes=(
        "a class of probability 0 has no term, but scores; the infimum need not be attained then",
        "multilabel losses have no p over single classes and are refused",
    ),
    oracle_only=True,
    erratum="E10",
)  # fmt: skip


@dataclass(frozen=True)
class RiskCertificate(ModelCertificate):
    """A `ModelCertificate` of scores as minimiser of the risk; the drift is mu (g_j - g_i).

    Attributes
    ----------
    violation : float
        By how much the given x violated the dual's constraints, or g the asked order.
    distance : float
        nan: the minimiser need not be unique.
    dual : float
        D(x), a lower bound on every risk.
    x : ndarray of shape (m, d)
        The dual point behind the bound: one row per class.
    """

    x: Array


def check_probabilities(p: ArrayLike) -> Array:
    """Class probabilities, divided by their sum."""
    p = check_vector("p", p)
    if p.size < 2 or p.min() < 0 or p.max() <= 0:
        raise InvalidParameterError(
            "p", p, "at least two probabilities >= 0, not all 0", "pass one entry per class"
        )
    return p / p.sum()


class _Risk:
    """One checked instance: the classes of positive probability, their loss, maps and costs."""

    def __init__(self, loss: str, p: ArrayLike, given: Mapping[str, Any]) -> None:
        params = dict(given)
        self.p = check_probabilities(p).astype(np.longdouble)
        self.m = m = self.p.size
        family = families.of(module_of(loss))
        if family.name == "multilabel" or "sdca_update" not in catalogue.operations(loss):
            raise InvalidParameterError(
                "loss", loss, "a convex loss of one class", "choose another loss"
            )
        costs, behind = params.pop("costs", None), params.pop("behind", None)
        self.behind = None if behind is None else _check_pair(behind, m)
        self.loss = Loss(loss, params, family.size(m))
        self.live = np.flatnonzero(self.p > 0)
        self.weight = self.p[self.live]
        rows: Any = [] if costs is None else check_matrix("costs", costs, (m, m))
        self.costs = np.array(
            [self.loss.check_costs(None if costs is None else rows[y], y) for y in self.live]
        )
        self.maps = [family.matrix(m, int(y)) for y in self.live]
        self.balance = Balance(self.loss, self.weight, self.live, self.maps, self.behind)

    def margins(self, g: Array) -> Array:
        """Z, one row per class of positive probability."""
        return np.array([g @ E for E in self.maps]) + self.costs

    def certify(self, g: Array, x: Array) -> RiskCertificate:
        """R(g) against D at the balanced x; both as terms that are >= 0."""
        g = g.astype(np.longdouble)
        crossed = 0.0
        if self.behind is not None:
            i, j = self.behind
            crossed = max(0.0, float(g[i] - g[j]))
            g[[i, j]] = (g[i] + g[j]) / 2 if crossed else g[[i, j]]
        off = abs(self.balance.off(x)).max() if self.behind is None else 0.0
        violation = max(float(abs(self.loss.violation(x)).max()), float(off), crossed)
        proof = self.balance.prove(g, x, self.costs)
        rows = np.zeros((self.m, self.loss.d))
        rows[self.live] = proof.x
        return replace(RiskCertificate.of(proof, violation, x=rows), distance=np.nan)


def _check_pair(behind: object, m: int) -> tuple[int, int]:
    pair = tuple(behind) if isinstance(behind, list | tuple) else ()
    if len(pair) != 2 or len(set(pair)) != 2:
        raise InvalidParameterError("behind", behind, "two different classes (i, j)", "g_i <= g_j")
    index = Symbol("behind", "class", "integer", low=0, high=m - 1)
    return index.check(pair[0]), index.check(pair[1])


def certificate(
    loss: str,
    p: ArrayLike,
    *,
    g: ArrayLike,
    x: ArrayLike | None = None,
    behind: tuple[int, int] | None = None,
    **given: Any,
) -> RiskCertificate:
    """Gap between the risk at g and a lower bound on every risk.

    Parameters
    ----------
    loss : str
        Object of a convex loss, multiclass or one-vs-all.
    p : (m,) array
        Class probabilities, divided by their sum.
    g : (m,) array
        Scores.
    x : (m, d) array, optional
        Dual point, one row per class; by default the gradients at g. It is moved onto the dual's
        constraints.
    behind : (i, j), optional
        Only scores with g_i <= g_j are admitted.
    **given
        ``costs`` (m, m), row y for class y, and the parameters of the loss.

    Raises
    ------
    InvalidParameterError
        Naming the argument.
    """
    risk = _Risk(loss, p, {**given, "behind": behind})
    g = check_vector("g", g, size=risk.m)
    if x is None:
        x = risk.loss.maximiser(risk.margins(g.astype(np.longdouble)))
    else:
        x = check_matrix("x", x, (risk.m, risk.loss.d))[risk.live]
    return risk.certify(g, x)


def bayes_error(p: ArrayLike, k: int = 1) -> float:
    """Least expected top-k error, 1 - the sum of the k largest probabilities (Lemma 1)."""
    p = check_probabilities(p)
    k = Symbol("k", "number of guesses", "integer", low=1, high=p.size).check(k)
    return float(np.sort(p)[: p.size - k].sum())


def expected_error(g: ArrayLike, p: ArrayLike, k: int = 1) -> float:
    """Expected error of the k guesses with the largest scores, ties broken in the worst way."""
    p = check_probabilities(p)
    g = check_vector("g", g, size=p.size)
    k = Symbol("k", "number of guesses", "integer", low=1, high=p.size).check(k)
    order = np.lexsort((p, -g))  # of tied scores, the least probable class first
    return float(np.sort(p[order[k:]]).sum())


def margin(
    loss: str,
    p: ArrayLike,
    i: int,
    j: int,
    *,
    x: ArrayLike,
    g: ArrayLike,
    least: ArrayLike,
    **given: Any,
) -> float:
    """Lower bound on what g_i <= g_j costs: positive proves g_i > g_j in every minimiser.

    ``x`` is a dual point of the problem with ``behind=(i, j)``, ``g`` any scores for it, ``least``
    scores of the problem without; both are used only as far as their certificates go.
    """
    bound = certificate(loss, p, g=g, x=x, behind=(i, j), **given).dual
    return bound - certificate(loss, p, g=least, **given).primal


# ---- CVXPY ----------------------------------------------------------------------------------


def _take(given: dict[str, Any]) -> tuple[_Risk, float, dict[str, Any]]:
    """The instance, the unit of its scores and the loss's parameters in that unit."""
    rest = dict(given)
    risk = _Risk(take(rest, "loss"), take(rest, "p"), rest)
    return risk, *scaled_by(risk.loss, max(abs(risk.costs).max(), 2.0**-40))


def _key(risk: _Risk, params: Mapping[str, Any]) -> tuple[Any, ...]:
    return (risk.loss.object_name, risk.m, tuple(risk.live), risk.behind, *plain(params))


def _unit(risk: _Risk) -> float:
    """R(0), the natural size of the risk."""
    return float(risk.weight @ risk.loss.value_bounds(risk.costs.astype(np.longdouble))[1]) or 1.0


def canonicalize_primal(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``pointwise_risk.primal``: x is g (m,), dual the rows x_y (m, d)."""
    risk, s, params = _take(given)

    def build() -> Template:
        g, Z = cp.Variable(risk.m), cp.Variable(risk.costs.shape)
        weight, costs = cp.Parameter(risk.live.size, nonneg=True), cp.Parameter(risk.costs.shape)
        tie = Z - cp.vstack([g @ E for E in risk.maps]) - costs == 0  # its multiplier is -p_y x_y
        value = risk.loss.module.value
        terms = [weight[i] * value(Z[i], **params) for i in range(risk.live.size)]
        order = [] if risk.behind is None else [g[risk.behind[0]] <= g[risk.behind[1]]]
        # the constant in g is free in the multiclass family: fix it
        centre = [cp.sum(g) == 0] if risk.loss.family.coupled else []
        problem = cp.Problem(cp.Minimize(cp.sum(terms)), [tie, *order, *centre])
        found = {"g": g, "minus_x": tie.dual_variables[0]}
        return Template(problem, {"weight": weight, "costs": costs}, found)

    def finish(found: Mapping[str, Any]) -> Answer:
        g = s * found["g"]
        if risk.behind is not None and g[risk.behind[0]] > g[risk.behind[1]]:
            g[list(risk.behind)] = g[list(risk.behind)].mean()
        raw = -found["minus_x"] / np.asarray(risk.weight, float)[:, None]
        best = risk.certify(g, raw)
        if risk.behind is None:  # the gradients at g may be the better dual point
            own = risk.certify(g, risk.loss.maximiser(risk.margins(g.astype(np.longdouble))))
            best = min(best, own, key=lambda proof: proof.gap)
        return Answer(g, best.value, best.x, best, {"g": g})

    values = {"weight": np.asarray(risk.weight, float), "costs": risk.costs / s}
    return ParametrizedProblem(_key(risk, params), build, values, finish, _unit(risk))


def canonicalize_dual(given: dict[str, Any]) -> ParametrizedProblem:
    """Instance of ``pointwise_risk.dual``: x is (m, d), one row per class, dual is g."""
    risk, s, params = _take(given)

    def build() -> Template:
        x, mu = cp.Variable(risk.costs.shape), cp.Variable(nonneg=True)
        weight, costs = cp.Parameter(risk.live.size, nonneg=True), cp.Parameter(risk.costs.shape)
        objective, domains = -cp.sum(cp.multiply(costs, x)), []
        balance = 0
        for i, E in enumerate(risk.maps):
            conjugate, domain = risk.loss.module.conjugate(x[i], **params)
            objective += weight[i] * conjugate
            domains += domain
            balance = balance - weight[i] * (E @ x[i])
        tilt = np.zeros(risk.m)
        if risk.behind is not None:
            tilt[list(risk.behind)] = 1, -1
        coupling = balance - mu * tilt == 0  # its multiplier is g
        problem = cp.Problem(cp.Minimize(objective), [coupling, *domains])
        found = {"x": x, "g": coupling.dual_variables[0]}
        return Template(problem, {"weight": weight, "costs": costs}, found)

    def finish(found: Mapping[str, Any]) -> Answer:
        proof = risk.certify(s * found["g"], found["x"])
        g = s * found["g"]
        return Answer(proof.x, proof.dual_value, g, proof, {"g": g})

    weight = np.asarray(risk.weight, float)
    values = {"weight": weight, "costs": weight[:, None] * risk.costs / s}
    return ParametrizedProblem(_key(risk, params), build, values, finish, _unit(risk))


# ---- as it is written -----------------------------------------------------------------------


def problem_primal(arguments: dict[str, Any]) -> Written:
    """Sum_y p_y L(z_y) with z_y = M_y g + c_y."""
    risk = _Risk(take(rest := dict(arguments), "loss"), take(rest, "p"), rest)
    g, Z = cp.Variable(risk.m, name="g"), cp.Variable(risk.costs.shape, name="Z")
    losses = [risk.loss.module.value(Z[i], **risk.loss.params) for i in range(risk.live.size)]
    rules = {
        f"x_{y}": Z[i] == constant(f"M_{y}", E.T) @ g + constant(f"c_{y}", risk.costs[i])
        for i, (y, E) in enumerate(zip(risk.live, risk.maps, strict=True))
    }
    rules |= {} if risk.behind is None else {"mu": g[risk.behind[0]] <= g[risk.behind[1]]}
    terms = [
        Term(risk.loss, Z[i], f"x_{y}", float(risk.weight[i]), losses[i])
        for i, y in enumerate(risk.live)
    ]
    return cp.Minimize(constant("p", risk.weight) @ cp.hstack(losses)), rules, terms


def problem_dual(arguments: dict[str, Any]) -> Written:
    """Sum_y p_y (<c_y,x_y> - L*(x_y)) with sum_y p_y M_y'x_y = 0, or -mu (e_i - e_j)."""
    risk = _Risk(take(rest := dict(arguments), "loss"), take(rest, "p"), rest)
    x = cp.Variable(risk.costs.shape, name="x")
    gained: list[Any] = []
    rules: dict[str, Any] = {}
    pull: Any = 0
    weight = np.asarray(risk.weight, dtype=float)
    for i, (y, E) in enumerate(zip(risk.live, risk.maps, strict=True)):
        conjugate, domain = risk.loss.module.conjugate(x[i], **risk.loss.params)
        gained.append(constant(f"c_{y}", risk.costs[i]) @ x[i] - conjugate)
        rules |= notation.by_text(domain)
        pull = pull + weight[i] * (constant(f"M_{y}'", E) @ x[i])
    if risk.behind is not None:
        mu, tilt = cp.Variable(name="mu"), np.zeros(risk.m)
        tilt[list(risk.behind)] = 1, -1
        pull, rules["mu >= 0"] = pull + mu * constant("e", tilt), mu >= 0
    return cp.Maximize(constant("p", weight) @ cp.hstack(gained)), rules | {"g": pull == 0}
