"""`certify`: what is certain of the values that a CVXPY problem's variables have."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve._lazy import cp
from refsolve._types import Array
from refsolve.cones.curvature import curvature
from refsolve.cones.dyadic import Dyadic, down, up
from refsolve.cones.from_cvxpy import Compiled, compiled
from refsolve.cones.lower import LowerBound, lower_bound
from refsolve.cones.program import ConeProgram
from refsolve.cones.ranges import Ranges
from refsolve.cones.solving import Proposal, proposal
from refsolve.cones.upper import Enclosed, completed, outside, ray, relaxed, repaired
from refsolve.errors import InvalidParameterError

#: Margins tried inside cones, smallest first: what a solver's digits leave room for.
MARGINS = (0.0, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5)


class Verdict(StrEnum):
    """What is certain of a point, or of the problem."""

    CERTIFIED = "certified"
    VIOLATED = "violated"
    SUBOPTIMAL = "suboptimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    UNCERTAIN = "uncertain"


@dataclass(frozen=True)
class ProblemCertificate:
    """What is certain of a CVXPY problem and the values of its variables.

    Attributes
    ----------
    status : Verdict
        "certified": feasible within the tolerance and within the tolerance of the optimum; "violated":
        a constraint fails by more; "suboptimal": a feasible point is certain to be better by more;
        "infeasible", "unbounded": proven of the problem; "uncertain": nothing of these, see `reason`.
    bound : float
        The objective at the point is at most this far from the optimum, on the worse side; inf where
        nothing is certain. No feasible point is better by more.
    violation : float
        At most this far from the cones is the slack of any constraint at the point.
    value, best : float
        Bounds: the objective at the point is at most ``value`` (at least, for Maximize), that of every
        feasible point at least ``best`` (at most, for Maximize).
    repaired : float
        What `bound` is at a point nearby that is feasible for certain; inf if none was found.
    moved : float
        How far that point is, in its largest entry.
    reason : str
    by : tuple of str
        What the bound rests on.
    assumptions : tuple of str
    solver_said : str
        The problem's own status, which is not believed.
    """

    status: Verdict
    bound: float
    violation: float
    value: float
    best: float
    repaired: float = math.inf
    moved: float = math.inf
    reason: str = ""
    by: tuple[str, ...] = ()
    assumptions: tuple[str, ...] = field(default_factory=tuple)
    solver_said: str = ""

    def __bool__(self) -> bool:
        return self.status is Verdict.CERTIFIED


_FALLS = "a feasible point and a direction along which the objective falls for ever"
_REDUCTION = "CVXPY's reduction of the expressions to cones, its numbers taken as they are"


def certify(
    problem: Any, *, tolerance: float = 1e-6, bounds: dict[Any, tuple[Any, Any]] | None = None
) -> ProblemCertificate:
    """Judge the values that the variables of a CVXPY problem have, whoever set them.

    The problem is reduced to ``min 1/2 x'Px + q'x, Ax + s = b, s in K``; f* is bounded from below by
    weak duality with multipliers that are brought into the dual cone, in exact arithmetic; f(x) from
    above by a completion of x that is feasible for certain. Linear, quadratic, second-order and
    exponential cone programs. No status is believed, and no solver.

    Parameters
    ----------
    problem : cvxpy.Problem
        After ``problem.solve()``, or with values set by hand.
    tolerance : float
        Of ``violation``, and of ``bound`` relative to 1 + |value|, for the verdict alone.
    bounds : dict of Variable to (low, high), optional
        What is known of variables beyond the constraints; becomes an assumption.

    Returns
    -------
    ProblemCertificate

    Raises
    ------
    InvalidParameterError
        No such problem (see `refsolve.cones.from_cvxpy.compiled`), or a tolerance that is not positive.

    Examples
    --------
    >>> import cvxpy as cp
    >>> x = cp.Variable(2)
    >>> problem = cp.Problem(cp.Minimize(cp.sum_squares(x - 1)), [cp.sum(x) <= 1])
    >>> _ = problem.solve()
    >>> proof = certify(problem)
    >>> str(proof.status), proof.bound < 1e-7
    ('certified', True)
    """
    if not (isinstance(tolerance, (int, float)) and 0 < tolerance < math.inf):
        raise InvalidParameterError("tolerance", tolerance, "a positive number", "try 1e-6")
    whole = compiled(problem)
    judged = _Judged(problem, whole, float(tolerance), whole.box(bounds))
    assumptions: tuple[str, ...] = (_REDUCTION,)
    if bounds:
        assumptions += (f"the declared bounds of {', '.join(str(v) for v in bounds)}",)
    result = judged.of_point() if judged.has_values else judged.of_problem()
    return replace(result, assumptions=assumptions, solver_said=str(problem.status))


class _Judged:
    """One problem under judgement."""

    def __init__(
        self, problem: Any, whole: Compiled, tolerance: float, box: tuple[Array, Array]
    ) -> None:
        self.problem, self.whole, self.tolerance, self.box = problem, whole, tolerance, box
        self.program = whole.program
        self.curvature = curvature(self.program.P)
        self.flipped = isinstance(problem.objective, cp.Maximize)
        values = [variable.value for variable in problem.variables()]
        self.has_values = all(v is not None and np.all(np.isfinite(_dense(v))) for v in values)

    def of_point(self) -> ProblemCertificate:
        """The variables have values."""
        x = self.whole.values()
        violation, lifted, exact = self._violation(x)
        upper, why = self._objective()
        offset = Fraction(self.whole.offset)
        level = up(upper - offset) if upper is not None else math.inf
        lower = self._lower(level, lifted)
        best = None if lower.value is None else lower.value + offset
        if best is None and self._infeasible():
            return self._told(Verdict.INFEASIBLE, violation, upper, None, "no point is feasible")
        if best is None and violation <= self.tolerance and self._unbounded():
            return self._told(Verdict.UNBOUNDED, violation, upper, None, _FALLS)
        if upper is None or best is None:
            status = Verdict.VIOLATED if violation > self.tolerance else Verdict.UNCERTAIN
            return self._told(status, violation, upper, best, why or lower.reason)
        bound = up(max(upper - best, Fraction(0)))
        room = self.tolerance * (1 + abs(float(upper)))
        distance, moved = self._repaired(lifted, exact, best - offset)
        if violation > self.tolerance:
            status, reason = Verdict.VIOLATED, f"a constraint fails by up to {violation:.3g}"
        elif violation > 0 and distance == math.inf and self._infeasible():
            status, reason = Verdict.INFEASIBLE, f"no point is feasible, but to {violation:.3g}"
        elif bound <= room:
            status, reason = Verdict.CERTIFIED, ""
        else:
            status, reason = Verdict.UNCERTAIN, f"the bound, {bound:.3g}, is all that is certain"
            better = self._feasible_value(self.program)
            if better is not None and (lead := float(upper - better - offset)) > room:
                status, reason = Verdict.SUBOPTIMAL, f"a feasible point is better by {lead:.3g}"
        told = self._told(status, violation, upper, best, reason)
        return replace(told, bound=bound, by=lower.by, repaired=distance, moved=moved)

    def _repaired(
        self, lifted: Array, exact: Enclosed | None, best: Fraction
    ) -> tuple[float, float]:
        """The bound at a feasible point nearby, and how far that is."""
        point = exact or repaired(self.program, lifted, (1e-3, 1e-5, 1e-7, 1e-9))
        if point is None:
            return math.inf, math.inf
        bound = point.objective(self.program) - best
        moved = np.abs(point.x.above() - lifted)[self.whole.fixed] + point.eta[self.whole.fixed]
        return up(max(bound, Fraction(0))), float(moved.max(initial=0.0))

    def of_problem(self) -> ProblemCertificate:
        """There are no values: is there a reason?"""
        if self._infeasible():
            return self._told(Verdict.INFEASIBLE, math.inf, None, None, "no point is feasible")
        if self._unbounded():
            return self._told(Verdict.UNBOUNDED, math.inf, None, None, _FALLS)
        reason = "the variables have no values"
        value = self._feasible_value(self.program)
        if value is None:
            reason += ", and neither infeasible nor unbounded is certain"
            return self._told(Verdict.UNCERTAIN, math.inf, None, None, reason)
        lower = self._lower(up(value), np.zeros(len(self.program.q)))
        offset = Fraction(self.whole.offset)
        best = None if lower.value is None else lower.value + offset
        reason += f", but a feasible point exists, with objective {float(value + offset):.6g}"
        return self._told(Verdict.UNCERTAIN, math.inf, value + offset, best, reason)

    def _told(
        self,
        status: Verdict,
        violation: float,
        upper: Fraction | None,
        best: Fraction | None,
        reason: str,
    ) -> ProblemCertificate:
        sign = -1.0 if self.flipped else 1.0
        value = math.inf if upper is None else up(upper)
        least = -math.inf if best is None else down(best)
        return ProblemCertificate(
            status, math.inf, violation, sign * value, sign * least, reason=reason
        )

    def _violation(self, x: Array) -> tuple[float, Array, Enclosed | None]:
        """How far the values are from feasible, the point with the other variables filled in, and
        that point again if it is feasible for certain.
        """
        fixed = self.whole.fixed
        margins = (0.0,) if fixed.all() else MARGINS
        for margin in margins:
            point = completed(self.program, fixed, x, margin)
            if point is not None and not np.any(point.eta):
                violation = outside(self.program, point.x)
                return violation, point.x.above(), None if violation else point
        near = x if fixed.all() else relaxed(self.program, fixed, x)
        return outside(self.program, Dyadic.of(near)), near, None

    def _objective(self) -> tuple[Fraction | None, str]:
        """At least f at the values, from the objective alone."""
        objective = self.problem.objective
        alone = compiled(cp.Problem(type(objective)(objective.expr)))
        fixed, x = alone.fixed, alone.values()
        best = None
        for margin in MARGINS:
            point = completed(alone.program, fixed, x, margin)
            if point is not None:
                value = point.objective(alone.program) + Fraction(alone.offset)
                best = value if best is None else min(best, value)
                if best is value and margin >= self.tolerance * 1e-5:
                    break
        return best, "" if best is not None else "the objective may be infinite at the values"

    def _lower(self, level: float, w: Array) -> LowerBound:
        """The best bound of those that a few multipliers give."""
        ranges = Ranges(self.program, self.box)
        inner = math.nextafter(level + 1e-9 * abs(level), math.inf)
        ranges.narrow(level=inner, curvature=self.curvature)
        if ranges.empty:  # nothing feasible is below the level
            return LowerBound(Fraction(inner), by=("ranges",))
        best = LowerBound(None, "no multipliers were found")
        scale = 1.0 + float(np.abs(self.program.q).max(initial=0.0))
        close = 1e-2 * self.tolerance * (1 + abs(level))
        curved = bool(self.program.soc) or self.program.exp > 0
        for reward in (1e-9, 1e-7, 1e-11, 1e-5, 0.0) if curved else MARGINS:
            found = proposal(self.program, reward=reward * scale)
            if found is None or np.abs(found.x).max(initial=0.0) > 1e150:
                continue
            for z, at in _tries(found, w, all_of_them=best.value is None):
                bound = lower_bound(self.program, z, at, ranges.lo, ranges.hi, self.curvature)
                if bound.value is None:
                    best = bound if best.value is None else best
                elif best.value is None or bound.value > best.value:
                    best = bound
            if best.value is not None and level - float(best.value) <= close < math.inf:
                break
        if best.value is not None and level < math.inf:
            best = replace(best, value=min(best.value, Fraction(inner)))
        return best

    def _feasible_value(self, program: ConeProgram) -> Fraction | None:
        """The objective of a point that is feasible for certain, without the offset."""
        nothing = np.zeros(len(program.q), dtype=bool)
        for margin in MARGINS[1:]:
            point = completed(program, nothing, np.zeros(len(nothing)), margin)
            if point is not None:
                return point.objective(program)
        return None

    def _infeasible(self) -> bool:
        """Whether a multiplier in the dual cone contradicts every point in the ranges."""
        ranges = Ranges(self.program, self.box)
        ranges.narrow()
        if ranges.empty:
            return True
        n = len(self.program.q)
        nothing = _indifferent(self.program)
        for reward in MARGINS:
            found = proposal(nothing, reward=reward)
            if found is None or not np.any(found.z):
                continue
            zero = np.zeros(n)
            for z in (found.z, *_few_digits(found.z)):
                bound = lower_bound(nothing, z, zero, ranges.lo, ranges.hi, zero)
                if bound.value is not None and bound.value > 0:
                    return True
        return False

    def _unbounded(self) -> bool:
        """Whether some feasible point and some direction are certain."""
        return self._feasible_value(_indifferent(self.program)) is not None and ray(self.program)


def _tries(found: Proposal, w: Array, *, all_of_them: bool) -> Iterator[tuple[Array, Array]]:
    """Multipliers, and where to linearise."""
    yield found.z, found.x
    yield found.z, w
    if all_of_them:
        for few in _few_digits(found.z):
            yield few, w


def _few_digits(z: Array) -> list[Array]:
    """Multipliers near ``z``: on edges of the cones nothing but few digits is exact."""
    size = np.exp2(np.ceil(np.log2(np.abs(z).max(initial=2.0**-1000))))
    return [np.round(z / size * 2.0**digits) / 2.0**digits * size for digits in (4, 10, 20)]


def _indifferent(program: ConeProgram) -> ConeProgram:
    """The constraints alone."""
    n = len(program.q)
    return replace(program, P=sp.csc_array((n, n)), q=np.zeros(n))


def _dense(value: Any) -> Array:
    return np.asarray(value.toarray() if hasattr(value, "toarray") else value, dtype=float)
