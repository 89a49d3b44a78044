"""`certify`: what is certain of the values that a CVXPY problem's variables have."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve._lazy import cp
from refsolve._types import Array
from refsolve.cones.curvature import curvature
from refsolve.cones.dyadic import Dyadic, down, product, up
from refsolve.cones.from_cvxpy import Compiled, compiled, dense
from refsolve.cones.lower import LowerBound, lower_bound
from refsolve.cones.membership import violation
from refsolve.cones.program import ConeProgram
from refsolve.cones.ranges import Ranges
from refsolve.cones.solving import Proposal, proposal
from refsolve.cones.travelling import Proof, outside, proof
from refsolve.cones.upper import Completion, Enclosed, direction, ray, relaxed
from refsolve.cones.verdict import ProblemCertificate, Verdict
from refsolve.errors import InvalidParameterError

#: Margins tried inside cones, smallest first: what a solver's digits leave room for.
MARGINS = (0.0, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5)


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
    real: Any = tolerance  # of any kind
    if not (isinstance(real, numbers.Real) and 0 < float(real) < math.inf):
        raise InvalidParameterError("tolerance", tolerance, "a positive number", "try 1e-6")
    judged = _Judged(problem, compiled(problem).bounded(bounds), float(tolerance))
    assumptions: tuple[str, ...] = (_REDUCTION,)
    if bounds:
        assumptions += (f"the declared bounds of {', '.join(str(v) for v in bounds)}",)
    result = judged.of_point() if judged.has_values else judged.of_problem()
    said = str(problem.status)
    return replace(result, assumptions=assumptions, solver_said=said, evidence=judged)


class _Judged:
    """One problem under judgement."""

    def __init__(self, problem: Any, whole: Compiled, tolerance: float) -> None:
        self.problem, self.whole, self.tolerance = problem, whole, tolerance
        self.program = whole.program
        self.curvature = curvature(self.program.P)
        self.flipped = isinstance(problem.objective, cp.Maximize)
        self.anywhere = Completion(self.program)
        self.lifted: Array | None = None
        values = [variable.value for variable in problem.variables()]
        self.has_values = all(v is not None for v in values)
        self.finite = self.has_values and all(np.all(np.isfinite(dense(v))) for v in values)

    def of_point(self) -> ProblemCertificate:
        """The variables have values."""
        if not self.finite:
            reason = "a value is nan or infinite"
            return self._told(Verdict.UNCERTAIN, math.inf, None, None, reason)
        violation, proven, lifted = self._violation(self.whole.values())
        self.lifted = lifted
        upper, why = self._objective()
        feasible = violation == 0
        offset = Fraction(self.whole.offset)
        lower = self._lower(math.inf if upper is None else up(upper - offset), lifted)
        best = None if lower.value is None else lower.value + offset
        bound = math.inf if best is None or upper is None else up(max(upper - best, Fraction(0)))
        distance, moved = (bound, 0.0) if feasible else (math.inf, math.inf)
        if best is not None and not feasible:
            distance, moved = self._repaired(lifted, best - offset)
        status, reason = self._verdict(
            upper, bound, (violation, proven), distance, why or lower.reason
        )
        told = self._told(status, violation, upper, best, reason)
        if status is Verdict.UNBOUNDED:
            return told
        return replace(told, bound=bound, by=lower.by, repaired=distance, moved=moved)

    def _verdict(
        self,
        upper: Fraction | None,
        bound: float,
        violations: tuple[float, float],
        distance: float,
        why: str,
    ) -> tuple[Verdict, str]:
        """The strongest thing that is certain."""
        violation, proven = violations
        level = math.inf if upper is None else abs(up(upper))
        infeasible = violation > 0 and distance == math.inf and self._infeasible()
        if infeasible:
            return Verdict.INFEASIBLE, f"no point is feasible, but to {violation:.3g}"
        if proven > self.tolerance:
            return Verdict.VIOLATED, f"a constraint fails by {proven:.3g}"
        if violation > self.tolerance:
            return Verdict.UNCERTAIN, f"whether the constraints hold within {violation:.3g}"
        if bound <= self.tolerance * (1 + level):
            return Verdict.CERTIFIED, ""
        if bound == math.inf and self._unbounded():
            return Verdict.UNBOUNDED, _FALLS
        better = None if upper is None else self._feasible_value(self.program)
        if better is not None and upper is not None:
            better += Fraction(self.whole.offset)
            lead = min(self._least() - up(better), down(upper - better))
            if lead > self.tolerance * (1 + level):
                return Verdict.SUBOPTIMAL, f"a feasible point is better by {lead:.3g}"
        return Verdict.UNCERTAIN, why or f"the bound, {bound:.3g}, is all that is certain"

    def _repaired(self, lifted: Array, best: Fraction) -> tuple[float, float]:
        """The bound at a feasible point nearby, and how far that is."""
        point = self.anywhere.repaired(lifted, (1e-3, 1e-5, 1e-7, 1e-9))
        if point is None:
            return math.inf, math.inf
        bound = point.objective(self.program) - best
        way = point.x - Dyadic.of(lifted)
        far = np.maximum(way.above(), (-way).above()) + point.eta * (1 + 1e-15)
        mine = far[self.whole.fixed]
        return up(max(bound, Fraction(0))), float(mine.max(initial=0.0)) * (1 + 1e-15)

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
        reason += f", but a feasible point exists, with objective {up(value + offset):.6g}"
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

    def _violation(self, x: Array) -> tuple[float, float, Array]:
        """At most and at least how far the values are from feasible, and the whole point."""
        fixed = self.whole.fixed
        given = Completion(self.program, fixed)
        residual, proven = self._residuals()
        point = None
        for margin in (0.0,) if fixed.all() else MARGINS:
            point = given.completed(x, margin)
            if point is not None and not np.any(point.eta):
                break
            point = None
        if point is None:
            near = x if fixed.all() else relaxed(self.program, fixed, x)
            exact = Dyadic.of(near)
        else:
            exact = point.x
            near = exact.above()
        s = Dyadic.of(self.program.b) - product(self.program.A, exact)
        far = violation(self.program, s)
        simple = slice(len(far) - 3 * self.program.exp)
        least = far[simple][~given.used[simple]]
        proven = max(proven, float(least.max(initial=0.0)))
        whole = float(far.max(initial=0.0))
        if whole == 0:
            return 0.0, 0.0, near
        return max(whole, residual), proven, near

    def _residuals(self) -> tuple[float, float]:
        """The largest residual of the user's constraints in floats, and that beyond rounding.

        Those of affine constraints are not counted as beyond: their rows are known exactly.
        """
        simple = (cp.constraints.Equality, cp.constraints.Inequality, cp.constraints.NonNeg,
                  cp.constraints.NonPos, cp.constraints.Zero)  # fmt: skip
        largest = certain = 0.0
        own, domain = self.problem.constraints, self.problem.objective.expr.domain
        for i, constraint in enumerate(own + domain):
            exact = i < len(own) and all(a.is_affine() for a in constraint.args)
            if isinstance(constraint, simple):
                with np.errstate(all="ignore"):
                    residual = float(np.max(constraint.violation(), initial=0.0))
                    size = max(map(_size, constraint.args), default=0.0)
                if np.isfinite(residual):
                    largest = max(largest, residual)
                    if residual > 1e-11 * size and not exact:
                        certain = max(certain, residual)
        return largest, certain

    def _least(self) -> float:
        """The objective at the values in floats, less what rounding may be; upper bounds may be loose."""
        expression = self.problem.objective.expr
        with np.errstate(all="ignore"):
            value = float(dense(expression.value).sum())
            return (-value if self.flipped else value) - 1e-11 * _size(expression)

    def _objective(self) -> tuple[Fraction | None, str]:
        """At least f at the values, from the objective alone."""
        objective = self.problem.objective
        if objective.expr.is_constant():
            value = Fraction(float(np.asarray(objective.expr.value).ravel()[0]))
            return (-value if self.flipped else value), ""
        alone = compiled(cp.Problem(type(objective)(objective.expr)))
        given, x = Completion(alone.program, alone.fixed), alone.values()
        best = None
        for margin in MARGINS:
            point = given.completed(x, margin)
            if point is not None:
                value = point.objective(alone.program) + Fraction(alone.offset)
                best = value if best is None else min(best, value)
                if best is value and margin >= self.tolerance * 1e-5:
                    break
        return best, "" if best is not None else "the objective may be infinite at the values"

    def _lower(self, level: float, w: Array) -> LowerBound:
        """The best bound of those that a few multipliers give."""
        ranges = Ranges(self.program)
        inner = math.nextafter(level + 1e-9 * abs(level), math.inf) if level < 1e300 else math.inf
        ranges.narrow(level=inner, curvature=self.curvature)
        if ranges.empty:  # nothing feasible is below the level
            if inner == math.inf:
                return LowerBound(None, "no point is feasible")
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
            if best.value is not None and level - down(best.value) <= close < math.inf:
                break
        if best.value is not None and inner < math.inf:
            best = replace(best, value=min(best.value, Fraction(inner)))
        return best

    def _feasible_value(self, program: ConeProgram) -> Fraction | None:
        """The objective of a point that is feasible for certain, without the offset."""
        somewhere = self.anywhere if program is self.program else Completion(program)
        for margin in MARGINS[1:]:
            point = somewhere.completed(np.zeros(len(program.q)), margin)
            if point is not None:
                return point.objective(program)
        return None

    def _infeasible(self) -> bool:
        """Whether a multiplier in the dual cone contradicts every point in the ranges."""
        ranges = Ranges(self.program)
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

    def travelling(self, status: Verdict) -> tuple[Proof | None, str]:
        """The best proof of a status that a file holds, or why there is none."""
        program, n = self.program, len(self.program.q)
        if status is Verdict.UNBOUNDED:
            return self._falling(), "the direction is certain to exist, but not known exactly"
        infeasible = status is Verdict.INFEASIBLE
        x = None if infeasible else self.lifted
        if x is None and not infeasible:
            return None, "the variables have no values"
        ranges, asked = Ranges(program), _indifferent(program) if infeasible else program
        if x is None:
            ranges.narrow()
        else:
            value = Enclosed(Dyadic.of(x), np.zeros(n)).objective(program)
            ranges.narrow(level=up(value + abs(value) / 10**9), curvature=self.curvature)
        if ranges.empty:
            ranges = Ranges(program)
        best = None
        for reward in MARGINS:
            found = proposal(asked, reward=reward * (1 + float(np.abs(asked.q).max(initial=0))))
            if found is None or (infeasible and not np.any(found.z)):
                continue
            size = float(np.abs(found.z).max(initial=0.0)) if infeasible else 1.0
            made = proof(program, x, found.z / size, self.curvature, (ranges.lo, ranges.hi))
            if made is not None and (best is None or made.bound < best.bound):
                best = made
        return best, "no multipliers were found"

    def _falling(self) -> Proof | None:
        """A feasible point, about, and a direction."""
        d = direction(self.program)
        for margin in MARGINS[1:] if d is not None else ():
            point = self.anywhere.completed(np.zeros(len(self.program.q)), margin)
            if point is not None and d is not None:
                x, free = point.x.above(), np.full(len(d), np.inf)
                slope = float(self.program.q @ d) / 2
                return Proof(
                    "unbounded", slope, outside(self.program, x), {"x": x, "ray": d}, -free, free
                )
        return None


def _tries(found: Proposal, w: Array, *, all_of_them: bool) -> Iterator[tuple[Array, Array]]:
    """Multipliers, and where to linearise."""
    yield found.z, found.x
    yield found.z, w
    if all_of_them:
        yield 0 * found.z, found.x
        for few in _few_digits(found.z):
            yield few, w


def _size(expression: Any) -> float:
    """The largest number on the way to the values of an expression."""
    own = float(np.abs(dense(expression.value)).max(initial=0.0))
    return max([own, *map(_size, expression.args)])


def _few_digits(z: Array) -> list[Array]:
    """Multipliers near ``z``: on edges of the cones nothing but few digits is exact."""
    size = np.exp2(np.ceil(np.log2(np.abs(z).max(initial=2.0**-1000))))
    return [np.round(z / size * 2.0**digits) / 2.0**digits * size for digits in (4, 10, 20)]


def _indifferent(program: ConeProgram) -> ConeProgram:
    """The constraints alone."""
    n = len(program.q)
    return replace(program, P=sp.csc_array((n, n)), q=np.zeros(n))
