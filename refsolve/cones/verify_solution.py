"""`certify`: what is certain of the values that a CVXPY problem's variables have."""

from __future__ import annotations

import math
import numbers
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve._lazy import cp
from refsolve._types import Array
from refsolve.cones.curvature import curvature
from refsolve.cones.dyadic import down, up
from refsolve.cones.from_cvxpy import Compiled, compiled, dense
from refsolve.cones.lower import LowerBound, lower_bound
from refsolve.cones.membership import outside
from refsolve.cones.program import ConeProgram
from refsolve.cones.ranges import Ranges
from refsolve.cones.reformulations import reformulated
from refsolve.cones.solving import Proposal, polished, proposal
from refsolve.cones.travelling import Proof, proof
from refsolve.cones.travelling import outside as outside_in_floats
from refsolve.cones.upper import MARGINS, Completion, Point, direction, ray, relaxed_program
from refsolve.cones.verdict import ProblemCertificate, Verdict
from refsolve.errors import InvalidParameterError

#: Most multipliers that are also tried with few digits, which are exact on edges of cones.
SMALL = 500
#: Share of its numbers by which equations may contradict each other and be called data that are rounded.
ROUNDED_DATA = 1e-10
#: Share of its terms below which a slope is what rounding of the problem's numbers makes of 0.
ROUNDED_SLOPE = 1e-12

_REDUCTION = "CVXPY's reduction of the expressions to cones, its numbers taken as they are"


def certify(
    problem: Any, *, tolerance: float = 1e-6, bounds: dict[Any, tuple[Any, Any]] | None = None
) -> ProblemCertificate:
    """Judge the values that the variables of a CVXPY problem have, whoever set them.

    The problem is reduced to ``min 1/2 x'Px + q'x, Ax + s = b, s in K``; f* is bounded from below by
    weak duality with multipliers that are brought into the dual cone, and from above by a point that is
    proven feasible, x itself or one beside it; f(x) from both sides. Arithmetic is in floats with bounds
    on their rounding, and exact where a number has to be 0. Linear, quadratic, second-order and
    exponential cone programs. No status is believed, and no solver.

    Parameters
    ----------
    problem : cvxpy.Problem
        After ``problem.solve()``, or with values set by hand.
    tolerance : float
        Of ``delta``, divided by the largest coefficient of a row if that is above 1; and of the
        distance of values, relative to |f(x)| + min(1, s), s the largest term of the objective:
        multiplying the objective by 1e-7 does not make a wrong answer right.
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
    if isinstance(problem, cp.Problem) and not bounds:
        told = reformulated(problem, partial(certify, tolerance=tolerance), float(tolerance))
        if told is not None:
            return told
    judge = Judge(problem, compiled(problem).bounded(bounds), float(tolerance))
    assumptions: tuple[str, ...] = (_REDUCTION,)
    if bounds:
        assumptions += (f"the declared bounds of {', '.join(str(v) for v in bounds)}",)
    try:
        result = judge.of_point() if judge.has_values else judge.of_problem()
    except (OverflowError, FloatingPointError):
        result = judge.told(
            Verdict.INCONCLUSIVE, reason="the numbers are beyond the range of floats"
        )
    said = str(problem.status)
    return replace(result, assumptions=assumptions, solver_said=said, evidence=judge)


@dataclass
class _Found:
    """Bounds about one point: f(x) in [least, value], f* >= lower, f(best) <= at.

    Constraints fail by at most delta; relative to the largest coefficient, and 1, by at most share, at
    least certain.
    """

    delta: float
    share: float
    certain: float
    value: Fraction | None = None
    least: Fraction | None = None
    lower: LowerBound = field(default_factory=lambda: LowerBound(None))
    best: Point | None = None
    at: Fraction | None = None
    scale: Fraction = Fraction(0)
    alone: bool = False

    @property
    def below(self) -> float:
        """How far f(x) may be below f*."""
        if self.delta == 0:
            return 0.0
        if self.at is None or self.least is None:
            return math.inf
        return up(max(self.at - self.least, Fraction(0)))


class Judge:
    """A problem, its numbers, and what has been found out about it.

    Parameters
    ----------
    problem : cvxpy.Problem
    whole : Compiled
    tolerance : float
    """

    def __init__(self, problem: Any, whole: Compiled, tolerance: float) -> None:
        self.problem, self.whole, self.tolerance = problem, whole, tolerance
        self.program = whole.program
        self.offset = Fraction(whole.offset)
        self.flipped = isinstance(problem.objective, cp.Maximize)
        self.anywhere = Completion(self.program)
        self.lifted: Array | None = None
        self.beyond = False
        values = [variable.value for variable in problem.variables()]
        self.has_values = all(v is not None for v in values)
        self.finite = self.has_values and all(np.all(np.isfinite(dense(v))) for v in values)

    @cached_property
    def curvature(self) -> Array | None:
        """A diagonal below P."""
        return curvature(self.program.P)

    @cached_property
    def solution(self) -> Proposal | None:
        """What a solver says of the whole program."""
        return proposal(self.program)

    @cached_property
    def polished(self) -> Proposal | None:
        """The same to more digits, for linear and quadratic programs."""
        found = self.solution
        return polished(self.program, found) if found is not None and found.solved else None

    # ---- verdicts

    def of_point(self) -> ProblemCertificate:
        """The variables have values."""
        if not self.finite:
            return self.told(Verdict.INCONCLUSIVE, reason="a value is nan or infinite")
        x = self.whole.values()
        found = self._found(x)
        if found.at is None and found.delta > 0:
            other = self._consistent()
            if other is not None:
                return other
        status, reason = self._status(found)
        if status in (Verdict.INFEASIBLE, Verdict.UNBOUNDED):
            return self.told(status, value=found.value, delta=found.delta, reason=reason)
        top, low = found.at if found.at is not None else found.value, found.lower.value
        told = self.told(
            status, value=found.value, best=low, upper=found.at, delta=found.delta, reason=reason
        )
        bound = math.inf if top is None or low is None else up(max(top - low, Fraction(0)))
        told = replace(told, bound=bound, below=found.below, by=found.lower.by)
        if found.best is None:
            return told
        way = np.abs(found.best.x - x)[self.whole.fixed]
        radius = float(found.best.eta[self.whole.fixed].max(initial=0.0))
        moved = 0.0 if found.delta == 0 else float(way.max(initial=0.0)) * (1 + 1e-15) + radius
        named = self.whole.named(found.best.x)
        return replace(told, feasible_point=named, radius=radius, moved=moved)

    def _found(self, x: Array) -> _Found:
        """Bounds on the objective at the values, the optimum, and the violation."""
        point, whole, delta, share, certain = self._feasibility(x)
        self.lifted = point.x
        found = _Found(delta=delta, share=share, certain=certain)
        found.value = self._value(point) if whole else None
        if found.value is None:
            self._objective_alone(found, x)
        found.scale = self._tolerance(found.value, point.x)
        if delta == 0:
            found.best, found.at = point, found.value
        found.lower = self._lower(found.at, point.x, found.scale)
        if found.best is None:
            found.best, found.at = self._feasible_point(point.x, found.lower.value, found.scale)
            low = found.lower.value
            if found.at is not None and (low is None or found.at - low > found.scale):
                found.lower = better(found.lower, self._lower(found.at, point.x, found.scale))
        low = found.lower.value
        if delta > 0 or low is None or found.value is None or found.value - low > found.scale:
            self._objective_alone(found, x)
            found.scale = self._tolerance(found.value, point.x)  # of the value that is told
            if delta == 0 and found.value is not None:
                found.at = found.value
            if found.at is not None and low is not None and found.at - low > found.scale:
                found.lower = better(found.lower, self._lower(found.at, point.x, found.scale))
        return found

    def _status(self, found: _Found) -> tuple[Verdict, str]:
        """The strongest thing that is certain."""
        low, at, value, scale = found.lower.value, found.at, found.value, found.scale
        delta, certain = found.delta, found.certain
        if delta > 0 and at is None and self._infeasible():
            return Verdict.INFEASIBLE, f"no point is feasible, but to {delta:.3g}"
        if certain > self.tolerance:
            return Verdict.VIOLATED, f"a constraint fails by {certain:.3g}"
        if found.share > self.tolerance:
            return Verdict.INCONCLUSIVE, f"whether the constraints hold within {delta:.3g}"
        if value is None:
            why = "the numbers are beyond the range of floats"
            return (
                Verdict.INCONCLUSIVE,
                why if self.beyond else "the objective may be infinite at the values",
            )
        if at is not None and low is not None and max(value, at) - low <= scale >= found.below:
            other = self._other_value(found)
            return (Verdict.INCONCLUSIVE, other) if other else (Verdict.CERTIFIED, "")
        no_ray = ""
        if low is None:
            no_ray = self._no_ray()
            if not no_ray:
                how = "rises" if self.flipped else "falls"
                return Verdict.UNBOUNDED, (
                    f"a feasible point and a direction along which the objective {how} for ever"
                )
        elsewhere = self._feasible_value(self.program) if delta == 0 else at
        if elsewhere is not None and found.least is not None:
            worse = down(found.least - elsewhere)
            if worse > scale:
                return Verdict.SUBOPTIMAL, f"a feasible point is better by {worse:.3g}"
        if delta > 0 and low is not None:
            side, beyond = ("above" if self.flipped else "below"), down(low - value)
            off = f"is {side} the optimum by {beyond:.3g} or more" if beyond > 0 else ""
            off = off or f"may be {side} the optimum by {found.below:.3g}"
            return Verdict.NEARLY_FEASIBLE, f"the constraints fail by {delta:.3g}; the value {off}"
        gap = math.inf if low is None else up(value - low)
        reason = found.lower.reason if low is None else ""
        reason = "; ".join(filter(None, (reason, no_ray)))
        return Verdict.INCONCLUSIVE, reason or f"the bound, {gap:.3g}, is all that is certain"

    def of_problem(self) -> ProblemCertificate:
        """There are no values: is there a reason?"""
        other = self._consistent()
        if other is not None:
            return other
        if self._infeasible():
            return self.told(Verdict.INFEASIBLE, reason="no point is feasible")
        no_ray = self._no_ray()
        if not no_ray:
            how = "rises" if self.flipped else "falls"
            reason = f"a feasible point and a direction along which the objective {how} for ever"
            return self.told(Verdict.UNBOUNDED, reason=reason)
        reason = "the variables have no values"
        value = self._feasible_value(self.program)
        if value is None:
            reason += ", and neither infeasible nor unbounded is certain"
            return self.told(Verdict.INCONCLUSIVE, reason=reason)
        lower = self._lower(value, np.zeros(len(self.program.q)), Fraction(0))
        sign = -1 if self.flipped else 1
        reason += f", but a feasible point exists, with objective {sign * up(value):.6g}"
        told = self.told(Verdict.INCONCLUSIVE, best=lower.value, upper=value, reason=reason)
        return replace(told, by=lower.by)

    def told(
        self,
        status: Verdict,
        *,
        value: Fraction | None = None,
        best: Fraction | None = None,
        upper: Fraction | None = None,
        delta: float = math.inf,
        reason: str = "",
    ) -> ProblemCertificate:
        """A result in the user's own sense."""
        at = math.inf if value is None else up(value)
        low = -math.inf if best is None else down(best)
        high = math.inf if upper is None else up(upper)
        if self.flipped:
            at, low, high = -at, -high, -low
        return ProblemCertificate(status, at, low, high, delta=delta, reason=reason)

    def _consistent(self) -> ProblemCertificate | None:
        """What is certain where equations contradict each other, for those that do not."""
        known = self.anywhere.dependent
        if known is None or not known.contradiction:
            return None
        says = f"equations contradict each other by {known.contradiction:.3g}"
        if known.share > ROUNDED_DATA:
            return self.told(Verdict.INFEASIBLE, reason=says)
        program = self.program
        rows = np.concatenate((known.kept, np.arange(program.zero, len(program.b))))
        kept = replace(
            program, A=program.rows[rows].tocsc(), b=program.b[rows], zero=len(known.kept)
        )
        judge = Judge(self.problem, replace(self.whole, program=kept), self.tolerance)
        result = judge.of_point() if self.has_values else judge.of_problem()
        if self.finite:
            far = outside(program, self._feasibility(self.whole.values())[0].x, 0 * program.q)
            result = replace(result, delta=max(result.delta, float(far.max(initial=0.0))))
        if result.status in (Verdict.CERTIFIED, Verdict.NEARLY_FEASIBLE):
            says += ", which is rounding of data: all points that meet them within that are as good"
            reason = "; ".join(filter(None, (says, result.reason)))
            return replace(result, status=Verdict.INCONSISTENT, reason=reason)
        return replace(result, reason="; ".join(filter(None, (result.reason, says))))

    # ---- the values

    def _value(self, point: Point) -> Fraction | None:
        try:
            return point.objective(self.program) + self.offset
        except (OverflowError, ValueError):
            self.beyond = True
            return None

    def _tolerance(self, value: Fraction | None, x: Array) -> Fraction:
        """How far values may be apart: relative to the objective and to the largest of its terms."""
        P = sp.csr_array(self.program.P)
        size = np.maximum(np.abs(x), 1.0)
        with np.errstate(over="ignore"):
            terms = np.abs(self.program.q) * size + np.abs(P.diagonal()) * size**2 / 2
        largest = float(terms.max(initial=0.0))
        level = abs(value) if value is not None else Fraction(0)
        return Fraction(self.tolerance) * (level + Fraction(min(1.0, largest or 1.0)))

    def _feasibility(self, x: Array) -> tuple[Point, bool, float, float, float]:
        """The values completed; whether rows of added variables hold; what the constraints fail by.

        By at most; by at most and at least relative to the largest coefficient of a row, and 1.
        """
        program, fixed = self.program, self.whole.fixed
        given = Completion(program, fixed)
        mixed = given.used & (not fixed.all())
        point, certain = None, 0.0
        if fixed.all():
            point = Point(x, np.zeros(len(x)))
        else:
            if self.solution is not None and self.solution.solved:
                point = given.enclosed(np.where(fixed, x, self.solution.x))
            if point is None:
                _, point = next(given.attempts(x), (0.0, None))
        whole = point is not None
        met = np.zeros(len(program.b), dtype=bool)
        if point is not None:
            met[: program.zero] = mixed[: program.zero]
        else:
            certain, point = self._relaxed(x)
        far = outside(program, point.x, point.eta, met)
        delta = float(far.max(initial=0.0))
        if delta == 0 and whole:
            return point, True, 0.0, 0.0, 0.0
        share = float((far / self._sizes).max(initial=0.0))
        certain = max(certain, self._certain(far, point.x, ~mixed))
        least, most = self._curved_residual(x)
        return point, whole, max(delta, most), max(share, most), max(certain, least)

    @cached_property
    def _sizes(self) -> Array:
        """The largest coefficient of each row, and of its cone, at least 1: multiplying a row is no change."""
        program, rows = self.program, abs(self.program.rows)
        size = np.ones(len(program.b))
        np.maximum.at(size, np.repeat(np.arange(len(size)), np.diff(rows.indptr)), rows.data)
        blocks = [*program.second_order, *(cone for _, cone in program.more)]
        blocks += [slice(start, start + 3) for start in program.exponential.tolist()]
        for cone in blocks:
            size[cone] = size[cone].max()
        return size

    def _certain(self, far: Array, x: Array, simple: Array) -> float:
        """The relative violation of rows that only given variables are in, less rounding."""
        program, rows = self.program, self.program.rows
        with np.errstate(all="ignore"):
            rough = (abs(rows) @ np.abs(x) + np.abs(program.b)) * (np.diff(rows.indptr) + 4.0)
            if program.soc:
                tails, cone = program.tails
                np.add.at(rough, program.heads[cone], rough[tails])
            least = (far * (1 - 1e-9) - 1e-15 * rough) / self._sizes
        simple = simple & np.isfinite(least)
        simple[program.zero + program.nonneg + sum(program.soc) :] = False
        return float(least[simple].max(initial=0.0))

    def _relaxed(self, x: Array) -> tuple[float, Point]:
        """Added variables with which the values violate as little as a solver can find, and a proof."""
        program, fixed = self.program, self.whole.fixed
        loose = relaxed_program(program)
        mask, start = np.append(fixed, False), np.append(x, 0.0)
        y, found = Completion(loose, mask).solved(start, 0.0)
        point = Point(y[:-1], 0 * y[:-1])
        if found is None:
            return 0.0, Point(x, 0 * x)
        strict = replace(loose, q=np.append(0 * program.q, 1.0))
        least = _given_bound(strict, mask, start)
        middles = self.program.exponential + 1
        open_middles = (program.rows[middles] != 0) @ ~fixed if program.exp else np.zeros(0, bool)
        certain = 0.0 if least is None or np.any(open_middles) else down(least)
        return max(certain, 0.0) / float(self._sizes.max(initial=1.0)), point

    def _curved_residual(self, x: Array) -> tuple[float, float]:
        """At least and at most the largest residual of the user's own curved inequalities."""
        t = cp.Variable(nonneg=True)
        rows = []
        for constraint in self.problem.constraints:
            if all(argument.is_affine() for argument in constraint.args):
                continue
            if isinstance(constraint, (cp.constraints.Inequality, cp.constraints.NonPos)):
                rows.append(constraint.expr <= t)
            elif isinstance(constraint, cp.constraints.NonNeg):
                rows.append(-constraint.args[0] <= t)
        if not rows:
            return 0.0, 0.0
        alone = compiled(cp.Problem(cp.Minimize(t), rows))
        fixed, values = alone.fixed.copy(), np.zeros(len(alone.program.q))
        for variable_id, columns in alone.columns.items():
            if variable_id in self.whole.columns:
                values[columns] = x[self.whole.columns[variable_id]]
            else:
                fixed[columns] = False
        most = self._residual_in_floats(alone, rows, t, values)
        if most is None:
            most = _given_value(alone.program, fixed, values)
        least = _given_bound(alone.program, fixed, values, most, self.tolerance)
        low = 0.0 if least is None else max(down(least), 0.0)
        return low, low if most is None else max(up(most), low)

    def _residual_in_floats(
        self, alone: Compiled, rows: list[Any], t: Any, values: Array
    ) -> Fraction | None:
        """The largest residual as CVXPY computes it, or a little more, if that is proven enough."""
        t.save_value(np.array(0.0))
        with np.errstate(all="ignore"):
            residual = max(float(np.max(row.violation(), initial=0.0)) for row in rows)
            size = max(_size(argument) for row in rows for argument in row.args)
        for more in (1e-13, 1e-10, 1e-7) if math.isfinite(residual + size) else ():
            values[alone.columns[t.id]] = residual + more * size
            point = next(Completion(alone.program, alone.fixed).attempts(values), None)
            if point is not None:
                return Fraction(float(values[alone.columns[t.id]][0]))
        return None

    def _objective_alone(self, found: _Found, x: Array) -> None:
        """Bounds of f at the values from the objective alone, from both sides."""
        if found.alone:
            return
        found.alone = True
        objective = self.problem.objective
        if objective.expr.is_constant():
            value = Fraction(float(np.asarray(objective.expr.value).ravel()[0]))
            found.value = found.least = -value if self.flipped else value
            return
        alone = compiled(cp.Problem(type(objective)(objective.expr)))
        values = np.zeros(len(alone.program.q))
        for variable_id, columns in alone.columns.items():
            values[columns] = x[self.whole.columns[variable_id]]
        most = _given_value(alone.program, alone.fixed, values, goal=float(found.scale or 0))
        least = _given_bound(alone.program, alone.fixed, values, most, float(found.scale))
        offset = Fraction(alone.offset)
        if most is not None:
            found.value = most + offset if found.value is None else min(found.value, most + offset)
        if least is not None:
            found.least = least + offset

    def _other_value(self, found: _Found) -> str:
        """Where CVXPY's own value of the objective is another one, what to say."""
        with np.errstate(all="ignore"):
            value = float(dense(self.problem.objective.value).ravel()[0])
            size = _size(self.problem.objective.expr)
        mine = float(found.value or 0) * (-1 if self.flipped else 1)
        if math.isfinite(value) and abs(value - mine) <= float(found.scale) + 1e-9 * size:
            return ""
        return (
            f"CVXPY's reduced problem is another one: its objective is {mine:.9g} at the values, "
            f"the problem's own {value:.9g}"
        )

    # ---- bounds

    def _proposals(self) -> Iterator[Proposal]:
        """A solver's points and multipliers, ever further inside the cones."""
        if self.solution is not None:
            yield self.solution
        if self.polished is not None:
            yield self.polished
        scale = 1.0 + float(np.abs(self.program.q).max(initial=0.0))
        for reward in (1e-9, 1e-8, 1e-7, 1e-5):
            inner = proposal(self.program, reward=reward * scale)
            if inner is not None:
                yield inner

    def _lower(self, level: Fraction | None, w: Array, scale: Fraction) -> LowerBound:
        """The best bound of those that a few multipliers give, offset included."""
        program = self.program
        ranges = Ranges(program)
        ranges.narrow(rounds=4)
        close = self._close(scale)
        best = LowerBound(None, "no multipliers were found")
        inner = None
        if level is not None:
            top = up(level - self.offset)
            inner = math.nextafter(top + 1e-9 * abs(top), math.inf) if abs(top) < 1e300 else None
        if ranges.empty:
            return self._nothing(inner)
        for found in self._proposals():
            best = self._with(found, w, ranges, best, level, scale)
            if self._enough(best, level, close):
                break
            if inner is not None:
                ranges.narrow(level=inner, curvature=self.curvature)
                if bool(ranges.empty):
                    return self._nothing(inner)
                best = self._with(found, w, ranges, best, level, scale)
                if self._enough(best, level, close):
                    break
        if best.value is not None and inner is not None:
            best = replace(best, value=min(best.value, Fraction(inner)))
        return self._whole(best)

    def _with(
        self,
        found: Proposal,
        w: Array,
        ranges: Ranges,
        best: LowerBound,
        level: Fraction | None,
        scale: Fraction,
    ) -> LowerBound:
        worth = float(scale) / (10 * len(w) + 10)
        for z, at in _tries(found, w, small=len(found.z) <= SMALL):
            for price in (math.inf, worth):
                bound = lower_bound(
                    self.program, z, at, ranges.lo, ranges.hi, self.curvature, price
                )
                best = better(best, bound)
                if bound.value is None or self._enough(best, level, self._close(scale)):
                    break
            if self._enough(best, level, self._close(scale)):
                break
        return best

    def _close(self, scale: Fraction) -> Fraction:
        """How near the optimum a bound has to be for no better one to be looked for."""
        return scale / (100 if len(self.program.b) <= SMALL else 3)

    def _enough(self, best: LowerBound, level: Fraction | None, close: Fraction) -> bool:
        """Whether a better bound is not to be expected."""
        if best.value is None:
            return False
        least = best.value + self.offset
        if level is not None and level - least <= close:
            return True
        guess = self._guess
        return math.isfinite(guess) and guess - float(best.value) <= float(close)

    @cached_property
    def _guess(self) -> float:
        """About the optimum without the offset, for stopping early."""
        found = self.solution
        if found is None or found.status != "Solved":
            found = self.polished
        if found is None:
            return math.inf
        x = found.x
        with np.errstate(all="ignore"):
            return float(x @ (self.program.P @ x) / 2 + self.program.q @ x)

    def _whole(self, bound: LowerBound) -> LowerBound:
        return bound if bound.value is None else replace(bound, value=bound.value + self.offset)

    def _nothing(self, inner: float | None) -> LowerBound:
        """No point is below the level."""
        if inner is None:
            return LowerBound(None, "no point is feasible")
        return self._whole(LowerBound(Fraction(inner), by=("ranges",)))

    def _feasible_point(
        self, x: Array, low: Fraction | None, scale: Fraction
    ) -> tuple[Point | None, Fraction | None]:
        """A feasible point near ``x`` whose objective is close to the bound, if one is found."""
        best, at = None, None
        for point in self._candidates(x):
            value = self._value(point)
            if value is None or (at is not None and value >= at):
                continue
            best, at = point, value
            if low is None or value - low <= scale / 2:
                break
        return best, at

    def _candidates(self, x: Array) -> Iterator[Point]:
        found = self.solution if self.solution is not None and self.solution.solved else None
        yield from self.anywhere.repaired(x, found)
        if found is not None:
            yield from self.anywhere.repaired(found.x, found)
        if self.polished is not None:
            yield from self.anywhere.repaired(self.polished.x, self.polished)
        yield from self.anywhere.tightened(x)

    def _feasible_value(self, program: ConeProgram) -> Fraction | None:
        """The objective of a point that is feasible for certain, offset included."""
        point = self._feasible(program)
        try:
            return None if point is None else point.objective(program) + self.offset
        except (OverflowError, ValueError):
            return None

    def _feasible(self, program: ConeProgram) -> Point | None:
        somewhere = self.anywhere if program is self.program else Completion(program)
        if program is self.program:
            found = self.solution if self.solution is not None and self.solution.solved else None
            point = None if found is None else next(somewhere.repaired(found.x, found), None)
            if point is not None:
                return point
        for margin in MARGINS[1:]:
            point = somewhere.completed(np.zeros(len(program.q)), margin)
            if point is not None:
                return point
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

    def _no_ray(self) -> str:
        """Why the objective is not certain to fall for ever; "" if it is."""
        program = self.program
        d = ray(program)
        if d is None:
            return "no direction is certain"
        with np.errstate(all="ignore"):
            slope, size = float(program.q @ d), float(np.abs(program.q) @ np.abs(d))
        if not -slope > ROUNDED_SLOPE * size:
            return "the slope along a direction is below the rounding of its terms"
        point = self._feasible(_indifferent(program))
        if point is None:
            return "no point is certain to be feasible"
        mine = np.where(self.whole.fixed, d, 0.0)
        far = float(np.abs(mine).max(initial=0.0))
        if not far > 1e-9 * float(np.abs(d).max(initial=0.0)):
            return "only variables that CVXPY added fall, which is rounding in its reduction"
        unit = max(1.0, float(np.abs(point.x[self.whole.fixed]).max(initial=0.0))) / far
        here = self._own_value(point.x)
        for step in (unit, 1e3 * unit, 1e6 * unit):
            there = self._own_value(point.x + step * mine)
            if not there <= here + slope * step / 2:
                return "the problem's own objective does not fall along the direction of the reduced one"
        return ""

    def _own_value(self, x: Array) -> float:
        """The objective as CVXPY computes it, to be minimised."""
        kept = [(variable, variable.value) for variable in self.problem.variables()]
        try:
            for variable, moved in self.whole.named(x).items():
                variable.save_value(moved)
            with np.errstate(all="ignore"):
                found = self.problem.objective.value
            value = math.nan if found is None else float(dense(found).ravel()[0])
        finally:
            for variable, before in kept:
                variable.save_value(before)
        return -value if self.flipped else value

    # ---- files

    def travelling(self, status: Verdict) -> tuple[Proof | None, str]:
        """The best proof of a status that a file holds, or why there is none."""
        program, n = self.program, len(self.program.q)
        if program.other:
            return None, "semidefinite and power cones have no place in the file format"
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
            value = Point(x, np.zeros(n)).objective(program)
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
                x, free = point.x, np.full(len(d), np.inf)
                slope = float(self.program.q @ d) / 2
                return Proof(
                    "unbounded",
                    slope,
                    outside_in_floats(self.program, x),
                    {"x": x, "ray": d},
                    -free,
                    free,
                )
        return None


def _tries(found: Proposal, w: Array, *, small: bool) -> Iterator[tuple[Array, Array]]:
    """Multipliers, and where to linearise."""
    yield found.z, found.x
    if small:
        yield found.z, w
    yield 0 * found.z, found.x
    for few in _few_digits(found.z) if small else ():
        yield few, w


def _size(expression: Any) -> float:
    """The largest number on the way to the values of an expression."""
    if not isinstance(expression, cp.Expression) or expression.value is None:
        return 0.0
    value: Any = expression.value
    data = value.data if hasattr(value, "tocoo") else dense(value)
    own = float(np.abs(data).max(initial=0.0))
    return max([own, *map(_size, expression.args)])


def better(one: LowerBound, other: LowerBound) -> LowerBound:
    """The larger of two bounds; what is known of the reason where there is none."""
    if one.value is None:
        return other if other.value is not None or other.reason else one
    return other if other.value is not None and other.value > one.value else one


def _given_value(
    program: ConeProgram, fixed: Array, values: Array, goal: float = 0.0
) -> Fraction | None:
    """At least the least objective with some variables given, offset apart."""
    given, best = Completion(program, fixed), None
    for margin, point in given.attempts(values):
        try:
            value = point.objective(program)
        except (OverflowError, ValueError):
            continue
        pure = np.zeros(len(program.b), dtype=bool)
        pure[: program.zero] = given.used[: program.zero]
        if outside(program, point.x, point.eta, pure).any():
            return None
        best = value if best is None else min(best, value)
        if margin >= goal / 100:
            break
    return best


def _given_bound(
    program: ConeProgram,
    fixed: Array,
    values: Array,
    goal: Fraction | None = None,
    scale: float = 0.0,
) -> Fraction | None:
    """At most the least objective with some variables given, offset apart.

    Multipliers are looked for until the bound is within ``scale`` of ``goal``.
    """
    given = Completion(program, fixed)
    base = np.where(fixed, values, 0.0)
    part = given.part(base)
    n = len(program.q)
    lo, hi = np.full(n, -np.inf), np.full(n, np.inf)
    lo[fixed] = hi[fixed] = values[fixed]
    form = curvature(program.P)
    ranges = Ranges(program, (lo, hi))
    ranges.narrow()
    if ranges.empty or part is None:
        return None
    best = LowerBound(None)
    size = 1.0 + float(np.abs(part.q).max(initial=0.0))
    for reward in (0.0, 1e-9, 1e-8, 1e-7, 1e-5):
        found = proposal(part, reward=reward * size) if len(given.free) else None
        z, x = np.zeros(len(program.b)), base.copy()
        if found is not None:
            z[given.used], x[given.free] = found.z, found.x
        few = _few_digits(z) if len(z) <= SMALL else []
        for multipliers in (z, 0 * z, *few) if reward == 0 else (z,):
            best = better(best, lower_bound(program, multipliers, x, ranges.lo, ranges.hi, form))
            if goal is not None and best.value is not None and goal - best.value <= scale / 10:
                return best.value
        if not len(given.free):
            break
    return best.value


def _few_digits(z: Array) -> list[Array]:
    """Multipliers near ``z``: on edges of the cones nothing but few digits is exact."""
    size = np.exp2(np.ceil(np.log2(np.abs(z).max(initial=2.0**-1000))))
    return [np.round(z / size * 2.0**digits) / 2.0**digits * size for digits in (4, 10, 20)]


def _indifferent(program: ConeProgram) -> ConeProgram:
    """The constraints alone."""
    n = len(program.q)
    return replace(program, P=sp.csc_array((n, n)), q=np.zeros(n))
