"""The conditions of Karush, Kuhn and Tucker at the values that a problem has, as a table of residuals."""

from __future__ import annotations

import html
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from refsolve import notation
from refsolve._lazy import cp
from refsolve._types import Array
from refsolve.errors import InvalidParameterError
from refsolve.proofs.loss import Loss

PRIMAL, DUAL = "primal feasibility", "dual feasibility"
SLACK, STATIONARY = "complementary slackness", "stationarity"
NOT_SMOOTH = float("nan")
KINKED = frozenset(
    ("abs", "norm1", "norm_inf", "max", "min", "maximum", "minimum", "sum_largest", "Pnorm", "PnormApprox")
)  # fmt: skip


@dataclass(frozen=True)
class Term:
    """A loss in an objective, whose margins z an equation ties: -its multiplier is weight times x.

    Its stationarity is x in the subdifferential of L at z, that is L(z) + L*(x) = <z,x>.

    Attributes
    ----------
    loss : Loss
    z : cvxpy.Expression
        The margins.
    tie : str
        Name of the equation z = ...
    weight : cvxpy.Expression or float
        What L(z) is multiplied with.
    declared : cvxpy.Expression
        The value as it is declared, a minimum over variables of its own.
    """

    loss: Loss
    z: Any
    tie: str
    weight: Any
    declared: Any

    @property
    def own(self) -> Sequence[Any]:
        """The variables in z, and those that the declared value minimises over."""
        return list(self.declared.variables())


@dataclass(frozen=True)
class Condition:
    """A row of the table.

    Attributes
    ----------
    kind : str
        "primal feasibility", "dual feasibility", "complementary slackness" or "stationarity".
    says : str
        The condition.
    residual : float
        Largest absolute value by which it is missed; nan where the Lagrangian has no gradient.
    """

    kind: str
    says: str
    residual: float


class Conditions(tuple[Condition, ...]):
    """All conditions; prints as a table, in a notebook too."""

    __slots__ = ()

    @property
    def largest(self) -> float:
        """The largest residual; nan if one is."""
        return max(
            (float(row.residual) for row in self), key=lambda r: (np.isnan(r), r), default=0.0
        )

    def __str__(self) -> str:
        widths = [max(len(getattr(row, name)) for row in self) for name in ("kind", "says")]
        return "\n".join(
            f"{row.kind:<{widths[0]}}  {row.says:<{widths[1]}}  {row.residual:.1e}" for row in self
        )

    def _repr_html_(self) -> str:
        rows = [
            (row.kind, f"<code>{html.escape(row.says)}</code>", f"{row.residual:.1e}")
            for row in self
        ]
        cell = '<{0} style="padding: 0 1em 0 0; text-align: left">{1}</{0}>'
        head = "".join(cell.format("th", name) for name in ("condition", "says", "residual"))
        body = ["".join(cell.format("td", entry) for entry in row) for row in rows]
        return "<table>" + "".join(f"<tr>{each}</tr>" for each in [head, *body]) + "</table>"


def kkt(problem: cp.Problem, terms: Sequence[Term] = ()) -> Conditions:
    """The conditions of Karush, Kuhn and Tucker at the current values of variables and multipliers.

    Parameters
    ----------
    problem : cvxpy.Problem
        Solved, or with values in its variables and in the dual variables of its constraints: equations and
        inequalities.
    terms : sequence of Term, optional
        Losses in the objective that have kinks.

    Returns
    -------
    Conditions
        Absolute residuals. Multipliers have the signs of CVXPY: the Lagrangian of minimise f is
        f + <lambda, low - high> + <nu, left - right>, that of maximise f begins with -f.

    Raises
    ------
    InvalidParameterError
        The problem is not convex, a variable, parameter or multiplier has no value, a
        variable has attributes (nonneg, bounds, symmetric, integer),
        or a constraint is of another cone.

    Examples
    --------
    >>> import refsolve
    >>> p = refsolve.problem("simplex.projection", a=[0.6, 0.6, -1.0])
    >>> optimum = p.solve(solver="CLARABEL")
    >>> [(row.kind, row.says) for row in p.kkt()][:2]
    [('primal feasibility', 'x >= 0'), ('primal feasibility', '<1,x> = r')]
    >>> p.kkt().largest < 1e-6
    True
    """
    if not isinstance(problem, cp.Problem):
        raise InvalidParameterError(
            "problem", problem, "a cvxpy.Problem", "make one with refsolve.problem(name, ...)"
        )
    named = getattr(problem, "named", None) or notation.by_text(problem.constraints)
    _check(problem, named, {v.id for term in terms for v in term.own})
    return Conditions(_rows(problem, named, terms))


def _check(problem: cp.Problem, named: Mapping[str, Any], own: set[int]) -> None:
    if not problem.is_dcp():
        raise InvalidParameterError(
            "problem",
            "not convex by the rules of CVXPY",
            "a convex problem, where the conditions prove an optimum",
            "see problem.is_dcp()",
        )
    for leaf in (*problem.variables(), *problem.parameters()):
        if leaf.value is None:
            raise InvalidParameterError(
                leaf.name(), None, "a value", "solve the problem, or set .value"
            )
    for leaf in problem.variables():
        held = [k for k, v in leaf.attributes.items() if v is not None and v is not False]
        if held and leaf.id not in own:
            raise InvalidParameterError(
                leaf.name(),
                f"a variable with {', '.join(held)}",
                "a variable without attributes, whose conditions would have no multiplier",
                "write them as constraints",
            )
    for name, rule in named.items():
        if type(rule).__name__ not in ("Equality", "Zero", "Inequality"):
            raise InvalidParameterError(
                name,
                type(rule).__name__,
                "an equation or an inequality",
                "see refsolve.certify for cones",
            )
        if rule.dual_value is None:
            raise InvalidParameterError(
                name,
                None,
                "a multiplier",
                "solve the problem, or save a value to its dual variable",
            )


def _sides(rule: Any) -> Any:
    """Low - high of an inequality, left - right of an equation."""
    return rule.args[0] if len(rule.args) == 1 else rule.args[0] - rule.args[1]


def _multiplier(rule: Any) -> Array:
    return np.asarray(rule.dual_value, dtype=float).reshape(rule.shape, order="F")


def _rows(
    problem: cp.Problem, named: Mapping[str, Any], terms: Sequence[Term]
) -> Iterator[Condition]:
    equal = {n for n, rule in named.items() if type(rule).__name__ != "Inequality"}
    for name, rule in named.items():
        missed = np.asarray(_sides(rule).value, dtype=float)
        lack = abs(missed) if name in equal else np.maximum(missed, 0)
        yield Condition(PRIMAL, notation.text(rule), float(lack.max(initial=0)))
    for name, rule in named.items():
        if name not in equal:
            lack = np.maximum(-_multiplier(rule), 0)
            yield Condition(
                DUAL, f"multiplier of {notation.text(rule)}", float(lack.max(initial=0))
            )
    for name, rule in named.items():
        if name not in equal:
            product = abs(_multiplier(rule) * np.asarray(_sides(rule).value, dtype=float))
            yield Condition(SLACK, notation.text(rule), float(product.max(initial=0)))
    for term in terms:
        yield from _kinked(term, named)
    yield from _gradients(problem, named, {v for term in terms for v in term.own})


def _kinked(term: Term, named: Mapping[str, Any]) -> Iterator[Condition]:
    z, weight = (
        np.asarray(term.z.value, dtype=float),
        float(getattr(term.weight, "value", term.weight)),
    )
    x, name = -_multiplier(named[term.tie]), notation.text(term.z)
    if weight:
        near = np.asarray(term.loss.repair(x / weight), dtype=float)
        gap = float(term.loss.fenchel_young(z, near))
        gap += max(float(term.declared.value) - float(term.loss.value_bounds(z)[0]), 0.0)
        gap *= weight
        off = weight * float(abs(x / weight - near).max(initial=0))
    else:
        gap, off = 0.0, float(abs(x).max(initial=0))
    yield Condition(DUAL, f"x of {name} in the domain of L*", off)
    yield Condition(STATIONARY, f"L({name}) + L*(x) = <{name},x>", gap)


def _gradients(problem: cp.Problem, named: Mapping[str, Any], own: set[Any]) -> Iterator[Condition]:
    """|gradient of the Lagrangian| in each variable that no loss is about."""
    sense = 1 if isinstance(problem.objective, cp.Minimize) else -1
    parts = [sense * problem.objective.args[0]]
    tops: dict[Any, list[tuple[int, float]]] = {}
    for rule in named.values():
        low = rule.args[0]
        if _is_top(low):
            tops.setdefault(low.args[0], []).append((int(low.k), float(_multiplier(rule))))
            parts.append(-float(_multiplier(rule)) * rule.args[1])
        else:
            parts.append(cp.sum(cp.multiply(_multiplier(rule), _sides(rule))))
    for x in problem.variables():
        if x in own:
            continue
        total: Any = np.zeros(x.size)
        for part in parts:
            slope = _slope(part, x)
            if slope is None:
                total = None
                break
            total = total + np.ravel(slope.toarray() if hasattr(slope, "toarray") else slope)
        if total is None:
            residual = NOT_SMOOTH
        elif x in tops:  # at ties, where there is no gradient
            residual = _outside(-total, np.ravel(x.value), tops[x])
        else:
            residual = float(abs(total).max(initial=0))
        yield Condition(STATIONARY, f"gradient in {x.name()}", residual)


def _is_top(e: Any) -> bool:
    """Whether this is the sum of the k largest entries of a variable, k a whole number."""
    if type(e).__name__ != "sum_largest" or not isinstance(e.args[0], cp.Variable):
        return False
    return e.args[0].ndim == 1 and float(getattr(e.k, "value", e.k)).is_integer()


def _outside(p: Array, x: Array, tops: Sequence[tuple[int, float]]) -> float:
    """By how much p misses the subdifferential at x of sum_j lambda_j S_j, S_j the sum of the j largest.

    With mu_i = sum of the lambda_j, j >= i, the function is sum_i mu_i x_[i]. Its subgradients are the means
    of the permutations of mu for which <p,x> is its value.
    """
    mu = np.zeros(x.size)
    for j, price in tops:
        mu[:j] += price
    over = np.cumsum(np.sort(p)[::-1]) - np.cumsum(mu)
    gap = float(mu @ np.sort(x)[::-1] - p @ x)
    return max(float(over.max()), abs(float(over[-1])), abs(gap))


def _slope(part: Any, x: Any) -> Any:
    """The gradient in x; None outside the domain and at a kink, where CVXPY gives one of many."""
    try:
        if any(_bends(e) for e in _atoms(part) if any(v is x for v in e.variables())):
            return None
        return part.grad.get(x, 0.0)
    except (TypeError, NotImplementedError):  # outside the domain of an inner function; no gradient
        return None


def _atoms(e: Any) -> Iterator[Any]:
    yield e
    for each in e.args:
        yield from _atoms(each)


def _bends(e: Any) -> bool:
    """Whether the function has a kink within 1e-6 of its argument: its slopes on both sides differ."""
    if type(e).__name__ not in KINKED:
        return False
    steps = [1e-6 * np.cos(np.arange(a.size) + i).reshape(a.shape) for i, a in enumerate(e.args)]
    sides = [
        e._grad([np.asarray(a.value) + sign * d for a, d in zip(e.args, steps, strict=True)])
        for sign in (1, -1)
    ]
    return any(
        one is None or other is None or abs(one - other).max() > 0.01
        for one, other in zip(*sides, strict=True)
    )
