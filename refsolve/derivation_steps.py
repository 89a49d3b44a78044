"""`check_step`: accepts a step of a derivation, or answers with a point at which it is wrong."""

from __future__ import annotations

import inspect
import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import exact_values as ev
from refsolve._lazy import cp
from refsolve.cones import Verdict, certify
from refsolve.errors import InvalidParameterError
from refsolve.exact_points import FEWEST, MODERATE, Leaf, Point, Rule, Space

RELATIONS = ("equal", "at_least", "at_most", "same_optimum")
#: Points of a comparison, and instances of one of optima.
POINTS, INSTANCES = 150, 25
#: Enclosures that are no narrower, relative to the values, decide nothing.
WIDEST = Fraction(1, 10**30)
Value = ev.Interval | float


@dataclass(frozen=True)
class StepResult:
    """What was found out about a step; true if it is accepted.

    Attributes
    ----------
    status : str
        "accepted", "refused", or "inconclusive", which is no acceptance.
    relation : str
    reason : str
    point : dict of str to array, or None
        Where the two differ, as small and round as could be found; fractions.
    before, after : object
        The values there: fractions, infinite floats, or (low, high) where only bounds are known.
    tried : int
        Points, or instances, on which the step was tried.
    """

    status: str
    relation: str
    reason: str
    point: dict[str, Any] | None = None
    before: Any = None
    after: Any = None
    tried: int = 0

    def __bool__(self) -> bool:
        return self.status == "accepted"

    def __str__(self) -> str:
        if self.point is None:
            return f"{self.status}: {self.reason}"
        at = ", ".join(f"{name} = {_written(value)}" for name, value in self.point.items())
        values = f"before = {_written(self.before)}, after = {_written(self.after)}"
        return f"{self.status}: {self.reason}\n  at {at}\n  {values}"

    __repr__ = __str__


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return f"in [{value[0]:.9g}, {value[1]:.9g}]"
    if isinstance(value, np.ndarray):
        return str(value.tolist() if not value.ndim else _nested(value)).replace("'", "")
    return str(value)


def _nested(value: np.ndarray[Any, Any]) -> Any:
    return [_nested(v) if isinstance(v, np.ndarray) else str(v) for v in value]


# ---- the two sides


@dataclass(frozen=True)
class _Side:
    """One side of a step: a value at every point, infinite outside of the constraints."""

    leaves: dict[str, Leaf]
    objective: Callable[[Point], Any]
    rules: tuple[Rule, ...] = ()
    problem: Any = None

    def value(self, point: Point) -> Value:
        if not all(rule.holds(point) for rule in self.rules):
            return -math.inf if isinstance(self.problem.objective, cp.Maximize) else math.inf
        found = np.asarray(self.objective(point), dtype=object)
        if found.size != 1:
            raise InvalidParameterError(
                "before or after", f"{found.size} values", "one number", "sum them up"
            )
        value = found.ravel()[0]
        infinite = isinstance(value, float | np.floating) and math.isinf(value)
        return float(value) if infinite else ev.number(value)


def _leaves(expressions: Sequence[Any]) -> dict[str, Leaf]:
    found: dict[str, Leaf] = {}
    for e in expressions:
        for leaf in [*e.variables(), *e.parameters()]:
            kept = {"nonneg", "nonpos", "pos", "neg", "boolean", "integer"}
            other = [n for n, v in leaf.attributes.items() if n not in kept and _set(v)]
            if other:
                raise InvalidParameterError(
                    leaf.name(), other, f"no attributes but {', '.join(sorted(kept))}",
                    "write it as a constraint in where=[...]",
                )  # fmt: skip
            a = leaf.attributes
            boolean = bool(a["boolean"])
            sign = 1 if boolean or leaf.is_nonneg() else -1 if leaf.is_nonpos() else 0
            given = isinstance(leaf, cp.Parameter)
            whole = boolean or bool(a["integer"])
            found[leaf.name()] = Leaf(leaf.shape, not given, given, sign, whole, boolean)
    return found


def _set(value: Any) -> bool:
    return value is not None and value is not False and not (isinstance(value, list) and not value)


def _side(argument: str, given: Any) -> _Side:
    """An expression, problem, formula, function or number, read."""
    if isinstance(given, cp.Problem):
        rules = tuple(_rule(c, "constraints") for c in given.constraints)
        inner = given.objective.args[0]
        read = [inner, *(a for c in given.constraints for a in c.args)]
        return _Side(_leaves(read), lambda p: ev.expression_value(inner, p), rules, given)
    if isinstance(given, cp.Expression):
        if given.size != 1:
            raise InvalidParameterError(argument, given, "one number", "compare sums or entries")
        return _Side(_leaves([given]), lambda p: ev.expression_value(given, p))
    if isinstance(given, str):
        tree = ev.parsed(given, argument)
        names = dict.fromkeys(sorted(ev.names_in(tree)), Leaf())
        return _Side(names, _guarded(argument, given, lambda p: ev.formula_value(tree, p)))
    if callable(given):
        names = dict.fromkeys(inspect.signature(given).parameters, Leaf())

        def called(p: Point) -> Any:
            return given(**{n: p[n].copy() if p[n].ndim else p[n][()] for n in names})

        return _Side(names, _guarded(argument, given, called))
    try:
        value = ev.number(given)
    except (InvalidParameterError, ValueError, OverflowError):
        raise InvalidParameterError(
            argument, given, "a CVXPY expression or problem, a formula, a function, or a number",
            "give one of these",
        ) from None  # fmt: skip
    return _Side({}, lambda p: value)


def _guarded(argument: str, given: Any, value: Callable[[Point], Any]) -> Callable[[Point], Any]:
    """The value of a formula or function; what it does wrong is said of the argument."""

    def guarded(point: Point) -> Any:
        try:
            return value(point)
        except (TypeError, AttributeError, ValueError, IndexError) as error:
            raise InvalidParameterError(
                argument, given, "arithmetic on arrays of fractions: + - * / ** @, abs, sum, max, sorted, np.exp,"
                " np.log, np.sqrt, np.maximum", f"write it with these ({error})",
            ) from error  # fmt: skip

    return guarded


def _rule(given: Any, argument: str = "where") -> Rule:
    """A constraint of CVXPY, or a comparison in a string."""
    kind = type(given).__name__
    if kind in ("Inequality", "Equality", "Zero", "NonPos", "NonNeg"):
        e = given.expr if kind in ("Inequality", "Equality") else given.args[0]
        sign = -1 if kind == "NonNeg" else 1
        names = frozenset(_leaves([e]))
        return Rule(lambda p: sign * ev.expression_value(e, p), kind in ("Equality", "Zero"), names)
    if isinstance(given, str):
        tree = ev.parsed(given, argument)
        operators = {"LtE": 1, "GtE": -1, "Eq": 0}
        op = type(tree.ops[0]).__name__ if hasattr(tree, "ops") and len(tree.ops) == 1 else ""
        if op in operators:
            left, right = tree.left, tree.comparators[0]  # type: ignore[attr-defined]
            sign = operators[op] or 1

            def slack(p: Point) -> Any:
                return (ev.formula_value(left, p) - ev.formula_value(right, p)) * sign

            names = frozenset(ev.names_in(tree))
            return Rule(_guarded(argument, given, slack), op == "Eq", names)
    raise InvalidParameterError(
        argument, given, "<=, >= or == of CVXPY expressions, or as a string such as 'x >= 0'",
        "give one constraint per entry",
    )  # fmt: skip


# ---- relations


def _compared(a: Value, b: Value, relation: str, tol: Fraction) -> bool | None:
    """Whether the relation holds; None where the enclosures do not decide."""
    if isinstance(a, float) or isinstance(b, float):
        x, y = (v if isinstance(v, float) else 0.0 for v in (a, b))
        return {"equal": x == y, "at_least": x >= y, "at_most": x <= y}[relation]
    apart = a - b
    size = 1 + max(abs(v) for side in (a, b) for v in side.ends)
    room = tol * size
    if relation == "at_most":
        apart = -apart
    if relation == "equal":
        if apart.low > room or apart.high < -room:
            return False
    elif apart.high < -room:
        return False
    return True if apart.exact or apart.high - apart.low <= WIDEST * size else None


def check_step(
    before: Any,
    after: Any,
    relation: str = "equal",
    *,
    where: Sequence[Any] = (),
    symbols: Sequence[Any] | None = None,
    shapes: Mapping[str, Any] | None = None,
    values: Mapping[str, Any] | None = None,
    tol: float | None = None,
    seed: int = 0,
) -> StepResult:
    r"""Accept a step of a derivation, or answer with a point at which it is wrong.

    The sides are evaluated in rational arithmetic on points with ties, zeros and signs, on corners and
    edges of the constraints, large and small ones; exp, log and roots are enclosed to 60 digits. A
    refusal is a proof. An acceptance says that no point that was tried contradicts the step.

    Parameters
    ----------
    before, after : object
        CVXPY expressions with one value, such expressions as formulas in a string (``"sum(x^2)/2"``, with
        CVXPY's names of functions), Python functions of named arrays, numbers, or CVXPY problems. Symbols
        are the same if their names are. A problem counts as its objective where its constraints hold and
        as infinity elsewhere (minus infinity where it is maximised); for "same_optimum" as its optimum.
    relation : str
        "equal": before = after; "at_least": before >= after; "at_most": before <= after, at every point.
        "same_optimum": for all values of the parameters the optima are the same. Their values are bounded
        from both sides by `certify`; a side without variables is evaluated exactly.
    where : sequence
        The domain of the claim: constraints of CVXPY, or strings such as ``"x >= 0"``.
    symbols : sequence of str or of CVXPY leaves, optional
        What may stand in `after`; a step that leaves anything else in is refused, without a point.
    shapes : mapping of str to shape, optional
        Of symbols that stand in formulas and functions alone; numbers without it.
    values : mapping of str to array, optional
        Symbols that keep these values.
    tol : float, optional
        Differences up to tol (1 + largest value) count as none. 0, and 1e-6 for "same_optimum".
    seed : int
        The points are a function of it.

    Returns
    -------
    StepResult
        True if accepted; otherwise with the point, or the reason why nothing can be said.

    Raises
    ------
    InvalidParameterError
        What cannot be read or evaluated, named.

    Notes
    -----
    A float stands for the simplest fraction that rounds to it (denominators up to 1000), or for the
    shortest decimal. Points where a side has no value (a division by zero, log 0) are left out; if they
    are the most, nothing is said.

    Examples
    --------
    >>> import cvxpy as cp
    >>> m, t = cp.Variable(name="m"), cp.Variable(name="t")
    >>> line = check_step(cp.pos(1 - m), t * (1 - m), "at_least", where=[t >= 0, t <= 1])
    >>> bool(line), line.status
    (True, 'accepted')
    >>> check_step(cp.pos(1 - m), t * (1 - m), "at_least", where=[t >= 0])
    refused: it is not true that before >= after
      at m = 0, t = 2
      before = 1, after = 2
    >>> check_step("(a + b)^2", "a^2 + b^2").point
    {'a': array(Fraction(1, 1), dtype=object), 'b': array(Fraction(1, 1), dtype=object)}
    """
    if relation not in RELATIONS:
        raise InvalidParameterError(
            "relation", relation, f"one of {', '.join(RELATIONS)}", "name one"
        )
    room = Fraction(tol if tol is not None else 1e-6 if relation == "same_optimum" else 0)
    if room < 0:
        raise InvalidParameterError("tol", tol, "a number >= 0", "leave it out")
    if isinstance(where, str) or not isinstance(where, Sequence):
        where = [where]
    sides = _side("before", before), _side("after", after)
    rules = tuple(_rule(c) for c in where)
    extra = _leaves([a for c in where if not isinstance(c, str) for a in c.args])
    told = {n: Leaf(tuple(np.atleast_1d(s).tolist())) for n, s in (shapes or {}).items()}
    leaves = _merged(*(s.leaves for s in sides), extra, told)
    leaves |= {n: Leaf(()) for r in rules for n in sorted(r.names) if n not in leaves}
    if symbols is not None:
        allowed = {s if isinstance(s, str) else s.name() for s in symbols}
        if left := sorted(set(sides[1].leaves) - allowed):
            what = f"{', '.join(left)} still in it; expected {', '.join(sorted(allowed)) or 'a number'} alone"
            return StepResult("refused", relation, what)
    fixed = _fixed(values or {}, leaves)
    hints = tuple(s.rules for s in sides)
    if relation == "same_optimum":
        return _optima(sides, leaves, rules, hints, fixed, room, seed)
    space = Space(leaves, rules, hints, fixed, seed)
    tried = left_out = 0
    signs = {"equal": "=", "at_least": ">=", "at_most": "<="}

    def holds(point: Point) -> bool | None:
        try:
            return _compared(sides[0].value(point), sides[1].value(point), relation, room)
        except ev.UndefinedError:
            return None

    for point in space.points(POINTS):
        verdict = holds(point)
        if verdict is False:
            small = space.shrunk(point, lambda p: holds(p) is False, 600)
            reason = f"it is not true that before {signs[relation]} after"
            a, b = (_shown(s.value(small)) for s in sides)
            return StepResult("refused", relation, reason, _plain(small), a, b, tried + 1)
        tried, left_out = tried + (verdict is True), left_out + (verdict is None)
    free = leaves.keys() - fixed.keys()
    if not tried or left_out > tried or (tried < FEWEST and free):
        reason = f"both sides have a value at {tried} points of the domain, at {left_out} not: see where="
        return StepResult("inconclusive", relation, reason, tried=tried)
    reason = f"before {signs[relation]} after at {tried} points"
    return StepResult("accepted", relation, reason, tried=tried)


def _merged(*parts: Mapping[str, Leaf]) -> dict[str, Leaf]:
    """All symbols; those of formulas take the shape that CVXPY or `shapes` gives them."""
    found: dict[str, Leaf] = {}
    for n, leaf in (item for part in parts for item in part.items()):
        known = found.get(n, Leaf())
        if None not in (known.shape, leaf.shape) and known.shape != leaf.shape:
            raise InvalidParameterError(
                n, leaf.shape, f"the shape {known.shape} that it has elsewhere", "rename one"
            )
        found[n] = Leaf(
            leaf.shape if known.shape is None else known.shape, known.variable or leaf.variable,
            known.parameter or leaf.parameter, known.sign or leaf.sign,
            known.integer or leaf.integer, known.boolean or leaf.boolean,
        )  # fmt: skip
    return {n: replace(leaf, shape=leaf.shape or ()) for n, leaf in found.items()}


def _fixed(values: Mapping[str, Any], leaves: Mapping[str, Leaf]) -> Point:
    made = {n: ev.exact(v) for n, v in values.items()}
    for n, v in made.items():
        if n not in leaves or v.shape != leaves[n].shape:
            known = {k: leaf.shape for k, leaf in leaves.items()}
            raise InvalidParameterError(f"values[{n!r}]", v, f"one of the symbols, by shape {known}",
                "name a symbol and give it an array of its shape")  # fmt: skip
    return made


def _plain(point: Point) -> dict[str, Any]:
    return {
        n: np.frompyfunc(lambda v: v.low, 1, 1)(v) if v.ndim else np.array(v[()].low, dtype=object)
        for n, v in point.items()
    }


def _shown(value: Value) -> Any:
    if isinstance(value, float):
        return value
    return value.low if value.exact else value.middle


# ---- optima


def _optima(
    sides: tuple[_Side, _Side],
    leaves: dict[str, Leaf],
    where: tuple[Rule, ...],
    hints: tuple[tuple[Rule, ...], ...],
    fixed: Point,
    room: Fraction,
    seed: int,
) -> StepResult:
    """Certified bounds on both optima, for several values of the parameters."""
    free = {v.name() for s in sides if s.problem is not None for v in s.problem.variables()}
    given = {n: leaf for n, leaf in leaves.items() if n not in free}
    bare = {n for s in sides if s.problem is None for n in s.leaves}
    loose = {n for n in bare if n in free or (leaves[n].variable and not leaves[n].parameter)}
    if loose:
        raise InvalidParameterError(
            "relation", "same_optimum", "parameters alone in a side that is no problem",
            f"make {', '.join(sorted(loose))} a cp.Parameter, or that side a cp.Problem",
        )  # fmt: skip
    own = tuple(tuple(r for r in rules if r.names <= given.keys()) for rules in hints)
    space = Space(given, where, own, {n: v for n, v in fixed.items() if n in given}, seed)

    def bounds(point: Point) -> tuple[tuple[float, float], tuple[float, float]]:
        return _bounds(sides[0], point), _bounds(sides[1], point)

    def differ(point: Point) -> bool:
        try:
            return _apart(*bounds(point), room) is True
        except ev.UndefinedError:
            return False

    relation, tried, left_out, unclear, why = "same_optimum", 0, 0, 0, ""
    count = INSTANCES if given.keys() - fixed.keys() else 1
    for point in space.points(count, MODERATE, apart=True):
        try:
            both = bounds(point)
        except ev.UndefinedError:
            left_out += 1
            continue
        verdict = _apart(*both, room)
        if verdict is True:
            small = space.shrunk(point, differ, 40)
            a, b = (low if low == high else (low, high) for low, high in bounds(small))
            reason = "the optima differ"
            return StepResult("refused", relation, reason, _plain(small), a, b, tried + 1)
        tried += 1
        if verdict is None:
            unclear += 1
            why = f"the optima are known to lie in {both[0]} and {both[1]} only"
    if unclear or left_out > tried or not tried:
        reason = f"{unclear} of {tried} instances: {why}"
        if not unclear:
            reason = (
                f"both sides have a value for {tried} instances, for {left_out} not: see where="
            )
        return StepResult("inconclusive", relation, reason, tried=tried)
    return StepResult("accepted", relation, f"same optimum on {tried} instances", tried=tried)


def _apart(a: tuple[float, float], b: tuple[float, float], room: Fraction) -> bool | None:
    """Whether two optima, each between its bounds, differ by more than the tolerance."""
    if a == b and abs(a[0]) == math.inf == abs(a[1]):
        return False
    known = [abs(v) for v in (*a, *b) if math.isfinite(v)]
    scale = float(room) * (1 + max(known, default=0.0))
    if max(b[0] - a[1], a[0] - b[1]) > scale:
        return True
    if max(a[1], b[1]) - min(a[0], b[0]) <= scale:
        return False
    return None


def _bounds(side: _Side, point: Point) -> tuple[float, float]:
    """An interval that holds the optimum of a side at these values of the parameters."""
    if side.problem is None or not side.problem.variables():
        value = side.value(point)
        return (value, value) if isinstance(value, float) else tuple(map(float, value.ends))  # type: ignore[return-value]
    problem = _instance(side.problem, point)
    try:
        with warnings.catch_warnings():  # whether it is accurate is found out below
            warnings.simplefilter("ignore")
            problem.solve(solver="CLARABEL")
    except cp.SolverError:
        return -math.inf, math.inf
    except cp.DCPError as error:
        raise InvalidParameterError(
            "relation", "same_optimum", "convex problems", str(error).partition("\n")[0]
        ) from None
    certificate = certify(problem, tolerance=1e-7)
    sign = -1 if isinstance(problem.objective, cp.Maximize) else 1
    if certificate.status in (Verdict.INFEASIBLE, Verdict.UNBOUNDED):
        end = math.inf * sign * (1 if certificate.status is Verdict.INFEASIBLE else -1)
        return end, end
    return certificate.lower, certificate.upper


def _instance(problem: Any, point: Point) -> Any:
    """The problem with constants for its parameters and variables of its own."""
    made: dict[int, Any] = {}

    def copied(e: Any) -> Any:
        if e.args:
            return e.copy([copied(a) for a in e.args])
        if isinstance(e, cp.Parameter):
            return cp.Constant(
                np.vectorize(lambda v: float(v.low), otypes=[float])(point[e.name()])
            )
        if isinstance(e, cp.Variable):
            kept = {n: v for n, v in e.attributes.items() if _set(v)}
            return made.setdefault(e.id, cp.Variable(e.shape, name=e.name(), **kept))
        return e

    objective = type(problem.objective)(copied(problem.objective.args[0]))
    return cp.Problem(objective, [c.copy([copied(a) for a in c.args]) for c in problem.constraints])
