"""The optimum of a cone program from both sides, by whatever multipliers and points a solver proposes."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cached_property

import numpy as np

from refsolve._types import Array
from refsolve.cones import exact_simplex
from refsolve.cones.curvature import curvature
from refsolve.cones.dyadic import up
from refsolve.cones.exact_simplex import Answer
from refsolve.cones.lower import LowerBound, lower_bound
from refsolve.cones.membership import outside
from refsolve.cones.program import ConeProgram
from refsolve.cones.ranges import Ranges
from refsolve.cones.solving import Proposal, few_digits, indifferent, polished, proposal
from refsolve.cones.upper import MARGINS, SMALL, Completion, Point

#: Slack of rows, relative to their constants and 1, that an answer may have meant to meet.
MEETS = 1e-7
#: Rows times columns of linear programs that are solved in rational numbers where nothing else decides.
EXACT = 400
#: Numbers from here on are left alone: sums and products of them are beyond the range of floats.
FARTHEST = 1e150


class Bounds:
    """Bounds on the optimum of a program, infinite where there is none.

    Parameters
    ----------
    program : ConeProgram
    offset : Fraction
        Added to the objective.
    multipliers : (m,) array, optional
        Tried first in large programs, and believed as little as all others.
    """

    def __init__(
        self, program: ConeProgram, offset: Fraction, multipliers: Array | None = None
    ) -> None:
        self.program, self.offset = program, offset
        # small programs are worth a solver's last digits
        self.multipliers = multipliers if len(program.b) > SMALL else None
        self.anywhere = Completion(program)
        self._near: tuple[Array, Proposal | None] | None = None
        #: Whether an objective was beyond the range of floats.
        self.beyond = False

    def value(self, point: Point) -> Fraction | None:
        """At least the objective at a point; None beyond the range of floats."""
        try:
            return point.objective(self.program) + self.offset
        except (OverflowError, ValueError):
            self.beyond = True
            return None

    @cached_property
    def curvature(self) -> Array | None:
        """A diagonal below P."""
        return curvature(self.program.P)

    @cached_property
    def solution(self) -> Proposal | None:
        """What a solver says of the whole program."""
        # the last digits of many exponential cones cost more than all others
        return proposal(self.program, tolerance=1e-8 if self.program.exp > SMALL else 1e-11)

    @cached_property
    def polished(self) -> Proposal | None:
        """The same to more digits, for linear and quadratic programs."""
        found = self.solution
        return polished(self.program, found) if found is not None and found.solved else None

    @cached_property
    def vertex(self) -> Answer | None:
        """The optimum of a tiny linear program in rational numbers: its equations may be nearly dependent."""
        program = self.program
        at = program.zero
        if (
            program.P.nnz
            or at + program.nonneg < len(program.b)
            or len(program.b) * len(program.q) > EXACT
        ):
            return None
        A, b = program.rows.toarray(), program.b
        found = exact_simplex.solve(program.q, A[:at], b[:at], A[at:], b[at:])
        numbers = (found.value or Fraction(0), *found.x)
        return found if found.status == "optimal" and max(map(abs, numbers)) < FARTHEST else None

    def near(self, x: Array) -> Proposal | None:
        """A solution from the rows that ``x`` meets, about, for quadratic programs."""
        if not self.program.P.nnz:
            return None
        if self._near is None or not np.array_equal(self._near[0], x):
            z = MEETS * (1 + np.abs(self.program.b))
            self._near = x, polished(self.program, Proposal(x, z, ""), rounds=8, most=2e6)
        return self._near[1]

    def _proposals(self, x: Array) -> Iterator[Proposal]:
        """Points and multipliers: from ``x``, and a solver's, ever further inside the cones."""
        if self.multipliers is not None:
            yield Proposal(x, self.multipliers, "given")
        near = self.near(x)
        if near is not None:
            yield near
        if self.solution is not None:
            yield self.solution
        if self.polished is not None:
            yield self.polished
        scale = 1.0 + float(np.abs(self.program.q).max(initial=0.0))
        for reward in (1e-9, 1e-8, 1e-7, 1e-5):
            inner = proposal(self.program, reward=reward * scale)
            if inner is not None:
                yield inner

    def lower(self, level: Fraction | None, w: Array, scale: Fraction) -> LowerBound:
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
        if self.curvature is None:  # no multipliers help
            return lower_bound(program, 0 * program.b, w, ranges.lo, ranges.hi, None)
        closed = bool(np.all(np.isfinite(ranges.hi - ranges.lo) | (self.curvature > 0)))
        for found in self._proposals(w):
            # a level closes ranges, and a user's multipliers are asked only what is cheap
            if inner is None or closed or found.status != "given":
                best = self._with(found, w, ranges, best, level, inner, scale)
                if self._enough(best, level, close, found):
                    break
            if inner is not None:
                ranges.narrow(level=inner, curvature=self.curvature)
                if bool(ranges.empty):
                    return self._nothing(inner)
                best = self._with(found, w, ranges, best, level, inner, scale)
                if self._enough(best, level, close, found):
                    break
        if best.value is None and self.vertex is not None:
            best = LowerBound(self.vertex.value, by=("exact simplex",))
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
        inner: float | None,
        scale: Fraction,
    ) -> LowerBound:
        worth = float(scale) / (10 * len(w) + 10)
        for z, at in _tries(found, w, small=len(found.z) <= SMALL):
            for price in (math.inf, worth)[: 1 if found.status == "given" else 2]:
                bound = lower_bound(
                    self.program, z, at, ranges.lo, ranges.hi, self.curvature, price
                )
                best = better(best, bound)
                if bound.value is None or self._enough(best, level, self._close(scale), found):
                    break
                if inner is not None and price == math.inf and "exact multipliers" not in bound.by:
                    ranges.charge(z, up(Fraction(inner) - bound.value))
                    if ranges.empty:
                        return LowerBound(Fraction(inner), by=("ranges",))
                    bound = lower_bound(self.program, z, at, ranges.lo, ranges.hi, self.curvature)
                    best = better(best, bound)
            if self._enough(best, level, self._close(scale), found):
                break
        return best

    def _close(self, scale: Fraction) -> Fraction:
        """How near the optimum a bound has to be for no better one to be looked for."""
        return scale / (100 if len(self.program.b) <= SMALL else 3)

    def _enough(
        self, best: LowerBound, level: Fraction | None, close: Fraction, found: Proposal
    ) -> bool:
        """Whether a better bound is not to be expected: next to the level, or to what was proposed."""
        if best.value is None:
            return False
        least = best.value + self.offset
        if level is not None and level - least <= close:
            return True
        if found.status not in ("Solved", "polished", "given")[: 2 + (level is None)]:
            return False
        x = found.x
        with np.errstate(all="ignore"):
            guess = float(x @ (self.program.P @ x) / 2 + self.program.q @ x)
        return math.isfinite(guess) and guess - float(best.value) <= float(close)

    def _whole(self, bound: LowerBound) -> LowerBound:
        return bound if bound.value is None else replace(bound, value=bound.value + self.offset)

    def _nothing(self, inner: float | None) -> LowerBound:
        """No point is below the level."""
        if inner is None:
            return LowerBound(None, "no point is feasible")
        return self._whole(LowerBound(Fraction(inner), by=("ranges",)))

    def feasible_point(
        self, x: Array, low: Fraction | None, scale: Fraction
    ) -> tuple[Point | None, Fraction | None]:
        """A feasible point near ``x`` whose objective is close to the bound, if one is found."""
        best, at = None, None
        for point in self._candidates(x):
            value = self.value(point)
            if value is None or (at is not None and value >= at):
                continue
            best, at = point, value
            if low is None or value - low <= scale / 2:
                break
        return best, at

    def _candidates(self, x: Array) -> Iterator[Point]:
        if self.multipliers is not None:
            yield from self.anywhere.repaired(x, Proposal(x, self.multipliers, "given"))
        near = self.near(x)
        if near is not None:
            yield from self.anywhere.repaired(near.x, near)
            yield from self.anywhere.repaired(x, near)
        found = self.solution if self.solution is not None and self.solution.solved else None
        yield from self.anywhere.repaired(x, found)
        if found is not None:
            yield from self.anywhere.repaired(found.x, found)
        if self.polished is not None:
            yield from self.anywhere.repaired(self.polished.x, self.polished)
        yield from self.anywhere.tightened(x)
        if self.vertex is not None:
            x = np.array([float(v) for v in self.vertex.x])
            off = [abs(v - Fraction(u)) for v, u in zip(self.vertex.x, x.tolist(), strict=True)]
            eta = np.array([up(v) for v in off])
            if not outside(
                self.program, x, eta, np.arange(len(self.program.b)) < self.program.zero
            ).any():
                yield Point(x, eta)

    def feasible_value(self, program: ConeProgram) -> Fraction | None:
        """The objective of a point that is feasible for certain, offset included."""
        point = self.feasible(program)
        try:
            return None if point is None else point.objective(program) + self.offset
        except (OverflowError, ValueError):
            return None

    def feasible(self, program: ConeProgram) -> Point | None:
        """A point that is feasible for certain: in this program, or in one of the same constraints."""
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

    def infeasible(self) -> bool:
        """Whether a multiplier in the dual cone contradicts every point in the ranges."""
        ranges = Ranges(self.program)
        ranges.narrow()
        if ranges.empty:
            return True
        n = len(self.program.q)
        nothing = indifferent(self.program)
        for reward in MARGINS:
            found = proposal(nothing, reward=reward)
            if found is None or not np.any(found.z):
                continue
            zero = np.zeros(n)
            for z in (found.z, *few_digits(found.z)):
                bound = lower_bound(nothing, z, zero, ranges.lo, ranges.hi, zero)
                if bound.value is not None and bound.value > 0:
                    return True
        return False


def _tries(found: Proposal, w: Array, *, small: bool) -> Iterator[tuple[Array, Array]]:
    """Multipliers, and where to linearise."""
    yield found.z, found.x
    if found.status == "given":  # worth a look, not a search
        return
    if small:
        yield found.z, w
    yield 0 * found.z, found.x
    for few in few_digits(found.z) if small else ():
        yield few, w


def better(one: LowerBound, other: LowerBound) -> LowerBound:
    """The larger of two bounds; what is known of the reason where there is none."""
    if one.value is None:
        return other if other.value is not None or other.reason else one
    return other if other.value is not None and other.value > one.value else one
