"""`certify`: what is certain of the values that a CVXPY problem's variables have."""

from __future__ import annotations

import math
import numbers
from dataclasses import dataclass, field, replace
from fractions import Fraction
from functools import partial
from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve._lazy import cp
from refsolve._types import Array
from refsolve.cones.bounds import Bounds, better
from refsolve.cones.certificate_file import Proof
from refsolve.cones.dyadic import down, up
from refsolve.cones.file_proof import file_proof
from refsolve.cones.from_cvxpy import Compiled, compiled, dense
from refsolve.cones.given_values import GivenValues, largest_number
from refsolve.cones.lower import LowerBound
from refsolve.cones.membership import outside
from refsolve.cones.rays import ray
from refsolve.cones.reformulations import reformulated
from refsolve.cones.solving import indifferent
from refsolve.cones.upper import Point
from refsolve.cones.verdict import ProblemCertificate, Verdict
from refsolve.errors import InvalidParameterError

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
    on their rounding, and exact where a number has to be 0. Every cone that CVXPY has. No status is
    believed, and no solver.

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
        self.bounds = Bounds(self.program, self.offset, whole.multipliers)
        self.given = GivenValues(problem, whole, self.bounds, tolerance)
        self.lifted: Array | None = None
        values = [variable.value for variable in problem.variables()]
        self.has_values = all(v is not None for v in values)
        self.finite = self.has_values and all(np.all(np.isfinite(dense(v))) for v in values)

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
        point, whole, delta, share, certain = self.given.feasibility(x)
        self.lifted = point.x
        found = _Found(delta=delta, share=share, certain=certain)
        found.value = self.bounds.value(point) if whole else None
        if found.value is None:
            self._objective_alone(found, x)
        found.scale = self._tolerance(found.value, point.x)
        if delta == 0:
            found.best, found.at = point, found.value
        elif self.bounds.multipliers is not None:  # a level makes ranges: multipliers are cheaper
            found.best, found.at = self.bounds.feasible_point(point.x, None, found.scale)
        found.lower = self.bounds.lower(found.at, point.x, found.scale)
        low, tried = found.lower.value, self.bounds.multipliers is not None
        apart = found.at is not None and (low is None or found.at - low > found.scale / 2)
        if delta > 0 and (apart or not tried):
            found.best, found.at = self.bounds.feasible_point(point.x, low, found.scale)
            if found.at is not None and (low is None or found.at - low > found.scale):
                found.lower = better(found.lower, self.bounds.lower(found.at, point.x, found.scale))
        low = found.lower.value
        if delta > 0 or low is None or found.value is None or found.value - low > found.scale:
            self._objective_alone(found, x)
            found.scale = self._tolerance(found.value, point.x)  # of the value that is told
            if delta == 0 and found.value is not None:
                found.at = found.value
            if found.at is not None and low is not None and found.at - low > found.scale:
                found.lower = better(found.lower, self.bounds.lower(found.at, point.x, found.scale))
        return found

    def _status(self, found: _Found) -> tuple[Verdict, str]:
        """The strongest thing that is certain."""
        low, at, value, scale = found.lower.value, found.at, found.value, found.scale
        delta, certain = found.delta, found.certain
        if delta > 0 and at is None and self.bounds.infeasible():
            return Verdict.INFEASIBLE, f"no point is feasible, but to {delta:.3g}"
        if certain > self.tolerance:
            return Verdict.VIOLATED, f"a constraint fails by {certain:.3g}"
        if found.share > self.tolerance:
            return Verdict.INCONCLUSIVE, f"whether the constraints hold within {delta:.3g}"
        if value is None:
            why = "the numbers are beyond the range of floats"
            return (
                Verdict.INCONCLUSIVE,
                why if self.bounds.beyond else "the objective may be infinite at the values",
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
        elsewhere = self.bounds.feasible_value(self.program) if delta == 0 else at
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
        if self.bounds.infeasible():
            return self.told(Verdict.INFEASIBLE, reason="no point is feasible")
        no_ray = self._no_ray()
        if not no_ray:
            how = "rises" if self.flipped else "falls"
            reason = f"a feasible point and a direction along which the objective {how} for ever"
            return self.told(Verdict.UNBOUNDED, reason=reason)
        reason = "the variables have no values"
        value = self.bounds.feasible_value(self.program)
        if value is None:
            reason += ", and neither infeasible nor unbounded is certain"
            return self.told(Verdict.INCONCLUSIVE, reason=reason)
        lower = self.bounds.lower(value, np.zeros(len(self.program.q)), Fraction(0))
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
        known = self.bounds.anywhere.dependent
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
        z = None if self.whole.multipliers is None else self.whole.multipliers[rows]
        judge = Judge(
            self.problem, replace(self.whole, program=kept, multipliers=z), self.tolerance
        )
        result = judge.of_point() if self.has_values else judge.of_problem()
        if self.finite:
            far = outside(program, self.given.feasibility(self.whole.values())[0].x, 0 * program.q)
            result = replace(result, delta=max(result.delta, float(far.max(initial=0.0))))
        if result.status in (Verdict.CERTIFIED, Verdict.NEARLY_FEASIBLE):
            says += ", which is rounding of data: all points that meet them within that are as good"
            reason = "; ".join(filter(None, (says, result.reason)))
            return replace(result, status=Verdict.INCONSISTENT, reason=reason)
        return replace(result, reason="; ".join(filter(None, (result.reason, says))))

    def _tolerance(self, value: Fraction | None, x: Array) -> Fraction:
        """How far values may be apart: relative to the objective and to the largest of its terms."""
        P = sp.csr_array(self.program.P)
        size = np.maximum(np.abs(x), 1.0)
        with np.errstate(over="ignore"):
            terms = np.abs(self.program.q) * size + np.abs(P.diagonal()) * size**2 / 2
        largest = float(terms.max(initial=0.0))
        level = abs(value) if value is not None else Fraction(0)
        return Fraction(self.tolerance) * (level + Fraction(min(1.0, largest or 1.0)))

    def _objective_alone(self, found: _Found, x: Array) -> None:
        """Bounds of f at the values from the objective alone, from both sides."""
        if found.alone:
            return
        found.alone = True
        most, least = self.given.objective(x, found.scale)
        if most is not None and (found.value is None or most == least or most < found.value):
            found.value = most
        if least is not None:
            found.least = least

    def _other_value(self, found: _Found) -> str:
        """Where CVXPY's own value of the objective is another one, what to say."""
        with np.errstate(all="ignore"):
            value = float(dense(self.problem.objective.value).ravel()[0])
            size = largest_number(self.problem.objective.expr)
        mine = float(found.value or 0) * (-1 if self.flipped else 1)
        if math.isfinite(value) and abs(value - mine) <= float(found.scale) + 1e-9 * size:
            return ""
        return (
            f"CVXPY's reduced problem is another one: its objective is {mine:.9g} at the values, "
            f"the problem's own {value:.9g}"
        )

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
        point = self.bounds.feasible(indifferent(program))
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

    def certificate_file(self, status: Verdict) -> tuple[Proof | None, str]:
        """The best proof of a status that a file holds, or why there is none."""
        return file_proof(self.bounds, status, self.lifted, self.whole.fixed)
