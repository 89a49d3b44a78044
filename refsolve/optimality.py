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
#: Piecewise linear atoms: whether each entry is the largest of pieces, or one number that of all, and signs of these.
PIECES = {
    "abs": (True, (1, -1)), "norm1": (True, (1, -1)), "norm_inf": (False, (1, -1)), "max": (False, (1,)),
    "min": (False, (1,)), "maximum": (True, (1,)), "minimum": (True, (1,)), "sum_largest": (False, (1,)),
}  # fmt: skip
KINKED = frozenset((*PIECES, "Pnorm", "PnormApprox"))


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
        Largest absolute value by which it is missed; nan outside the domain and at kinks that are not piecewise linear.
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
    lagrangian = problem.objective.args[0]
    lagrangian = lagrangian if isinstance(problem.objective, cp.Minimize) else -lagrangian
    for rule in named.values():
        lagrangian = lagrangian + cp.sum(cp.multiply(_multiplier(rule), _sides(rule)))
    found = Subgradient(lagrangian)
    for x in problem.variables():
        if x not in own:
            yield Condition(STATIONARY, f"gradient in {x.name()}", found.residual(x))


class Subgradient:
    """A subgradient of a convex expression at the values of its variables, as near to 0 as there is one.

    The chain rule, from the value back to the variables. At a kink of a piecewise linear atom h(u) = max of <s,u>
    over s in a polytope the slope is a variable s of that polytope, and misses the subdifferential by
    h(u) - <s,u> (Fenchel and Young). The largest of these and of the entries of the subgradient is minimised.
    At kinks of other atoms and outside the domain there is none.
    """

    def __init__(self, e: Any) -> None:
        self.slopes: dict[Any, Any] = {}
        self.rules: list[Any] = []
        self.missed: dict[Any, list[Any]] = {}
        self._back(e, np.ones(e.size), [])
        open_ = {x: slope for x, slope in self.slopes.items() if isinstance(slope, cp.Expression)}
        if open_:
            most = cp.Variable()
            rules = [cp.abs(slope) <= most for slope in open_.values()]
            rules += [each <= most for each in {id(m): m for x in open_ for m in self.missed[x]}.values()]
            try:
                cp.Problem(cp.Minimize(most), rules + self.rules).solve(solver="CLARABEL")
            except cp.SolverError:  # the residuals are those of no slope
                most.value = None
            if most.value is None:
                self.slopes |= dict.fromkeys(open_)

    def residual(self, x: Any) -> float:
        """Largest entry in x, or distance from the subdifferential; nan where there is none."""
        slope = self.slopes.get(x, 0.0)
        if slope is None:
            return NOT_SMOOTH
        if isinstance(slope, cp.Expression):
            off = [float(np.max(rule.violation(), initial=0.0)) for rule in self.rules]
            return max(float(abs(slope.value).max()), *(float(m.value) for m in self.missed[x]), *off)
        return float(np.max(abs(slope), initial=0.0))

    def _back(self, e: Any, weight: Any, missed: list[Any]) -> None:
        """Add the slopes of <weight, e> in the variables of e; ``missed``: how far that is off."""
        if isinstance(e, cp.Variable):
            before = self.slopes.get(e, 0.0)
            self.slopes[e] = None if weight is None or before is None else before + weight
            self.missed.setdefault(e, []).extend(missed)
            return
        if not e.variables():
            return
        parts: Sequence[Any] = [None] * len(e.args)
        if weight is not None and not isinstance(weight, cp.Expression) and not weight.any():
            parts = [np.zeros(each.size) for each in e.args]
        elif weight is not None and _bends(e):
            parts, missed = self._kink(e, weight, missed)
        elif weight is not None:
            slopes = _slopes(e)
            parts = [None if D is None else D @ weight for D in slopes]
        for each, part in zip(e.args, parts, strict=True):
            self._back(each, part, missed)

    def _kink(self, e: Any, weight: Any, missed: list[Any]) -> tuple[Sequence[Any], list[Any]]:
        """Slopes in the arguments of a piecewise linear atom, and how far these are off."""
        name, parts = type(e).__name__, [0.0] * len(e.args)
        if name not in PIECES or getattr(e, "axis", None) is not None:
            return [None] * len(e.args), missed
        by_entry, signs = PIECES[name]
        up = -1.0 if name.startswith("min") else 1.0  # min(u) = -max(-u)
        size, weight = max(each.size for each in e.args), up * weight
        if not isinstance(weight, cp.Expression):  # below 0: the row of the multiplier says so
            weight = np.maximum(weight, 0.0)
        pieces = [(at, up * sign) for at in range(len(e.args)) for sign in signs]
        shares = [cp.Variable(size) for _ in pieces]
        self.rules += [share >= 0 for share in shares]
        if by_entry:
            self.rules.append(sum(shares) == weight)
        else:
            k = getattr(e, "k", 1)
            self.rules += [share <= weight for share in shares]
            self.rules.append(sum(map(cp.sum, shares)) == float(getattr(k, "value", k)) * weight)
        off = cp.sum(cp.multiply(weight, up * np.ravel(e.value, order="F")))
        for (at, sign), share in zip(pieces, shares, strict=True):
            u, one = np.ravel(e.args[at].value, order="F"), e.args[at].size < size
            share = cp.reshape(cp.sum(share), (1,), order="F") if one else share
            off = off - sign * (u @ share)
            parts[at] = parts[at] + sign * share
        return parts, [*missed, off]


def _slopes(e: Any) -> Sequence[Any]:
    """Derivatives of the entries of an atom in those of its arguments; None outside the domain."""
    try:
        found = list(e._grad([each.value for each in e.args]))
    except (TypeError, NotImplementedError):  # outside the domain of an inner function; no gradient
        found = []
    found += [None] * (len(e.args) - len(found))  # no matter for what is constant
    return [
        np.full((each.size, e.size), D, dtype=float) if np.isscalar(D) else D
        for each, D in zip(e.args, found, strict=True)
    ]


def _bends(e: Any) -> bool:
    """Whether the function has a kink within 1e-6 of its argument: its slopes on both sides differ."""
    if type(e).__name__ not in KINKED:
        return False
    steps = [1e-6 * np.cos(np.arange(a.size) + i).reshape(a.shape) for i, a in enumerate(e.args)]
    try:
        sides = [
            e._grad([np.asarray(a.value) + sign * d for a, d in zip(e.args, steps, strict=True)])
            for sign in (1, -1)
        ]
    except NotImplementedError:
        return True
    return any(
        one is None or other is None or abs(one - other).max() > 0.01
        for one, other in zip(*sides, strict=True)
    )
