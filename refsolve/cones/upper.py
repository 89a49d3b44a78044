"""Points that are feasible for certain, and what the objective is at most there.

A point is kept as floats x and a radius eta: it is proven that some point within eta (entry by entry)
of x meets the equations exactly, and that the cones hold wherever in that box it is.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve._types import Array
from refsolve.cones.dependencies import Dependencies, dependencies
from refsolve.cones.dual_repair import pushed
from refsolve.cones.dyadic import Dyadic, product
from refsolve.cones.enclosure import EPS, TINY, dot, exact, reach, times
from refsolve.cones.linear_systems import Unproven, system_of
from refsolve.cones.membership import outside
from refsolve.cones.program import ConeProgram
from refsolve.cones.ranges import Ranges
from refsolve.cones.solving import Proposal, proposal

#: Margins tried inside cones, smallest first: what a solver's digits leave room for.
MARGINS = (0.0, 1e-13, 1e-11, 1e-9, 1e-7, 1e-5)
#: Most rows of programs in which more is tried than pays off in large ones.
SMALL = 500
#: Margins by which rows are tightened when a feasible point is looked for.
TIGHTENED = (1e-9, 1e-7, 1e-5, 1e-3)


@dataclass(frozen=True)
class Point:
    """A point near ``x``, within ``eta``."""

    x: Array
    eta: Array

    def objective(self, program: ConeProgram) -> Fraction:
        """At least the objective at the point."""
        Px = times(program.P, self.x)
        quadratic, off = dot(self.x, Px.middle)
        linear, more = dot(self.x, program.q)
        with np.errstate(all="ignore"):
            lost = float(np.abs(self.x) @ Px.error) / 2
            slope = np.abs(program.q) + Px.size()
            lost += float(slope @ self.eta) + float(self.eta @ reach(program.P, self.eta))
            lost *= 1 + (len(self.x) + 16) * EPS
        return (
            quadratic / 2 + linear + off / 2 + more + Fraction(lost) + Fraction(TINY) * (lost > 0)
        )


class Completion:
    """Points of a program some of whose variables keep their values.

    Parameters
    ----------
    program : ConeProgram
    fixed : (n,) array of bool, optional
        Variables that are given; none by default.
    """

    def __init__(self, program: ConeProgram, fixed: Array | None = None) -> None:
        n = len(program.q)
        self.program = program
        self.fixed = np.zeros(n, dtype=bool) if fixed is None else fixed
        self.free = np.flatnonzero(~self.fixed)
        self.used = self._rows()
        self._known: Dependencies | None = None
        self._asked = False

    @property
    def dependent(self) -> Dependencies | None:
        """Equations that follow from others, or contradict them."""
        if not self._asked:
            self._asked = True
            rows = np.flatnonzero(self.used[: self.program.zero])
            self._known = dependencies(self.program.rows[rows], self.program.b[rows])
        return self._known

    def _rows(self) -> Array:
        """Rows to be met: all but those (and those cones) that only given variables are in."""
        program, A = self.program, self.program.rows
        given = (A != 0) @ self.fixed
        mine = (A != 0) @ ~self.fixed
        used = mine | ~given
        blocks = list(program.second_order)
        blocks += [slice(start, start + 3) for start in program.exponential.tolist()]
        blocks += [rows for _, rows in program.more]
        for block in blocks:
            used[block] = mine[block].any() or not given[block].any()
        return np.asarray(used)

    @cached_property
    def mine(self) -> ConeProgram:
        """The program without the rows (and cones) that only given variables are in."""
        program, used = self.program, self.used
        return replace(
            program,
            A=program.rows[np.flatnonzero(used)].tocsc(),
            b=program.b[used],
            zero=int(used[: program.zero].sum()),
            nonneg=int(used[program.zero : program.zero + program.nonneg].sum()),
            soc=tuple(c.stop - c.start for c in program.second_order if used[c.start]),
            exp=int(used[program.exponential].sum()),
            other=tuple(block for block, rows in program.more if used[rows.start]),
        )

    def part(self, base: Array) -> ConeProgram | None:
        """The program in the free variables; None if its numbers are too large for floats."""
        mine, free, P = self.mine, self.free, sp.csc_array(self.program.P)
        with np.errstate(over="ignore", invalid="ignore"):
            q = mine.q[free] + (P @ base)[free]
            b = mine.b - mine.A @ base
        if not (np.all(np.isfinite(q)) and np.all(np.isfinite(b))):
            return None
        return replace(mine, P=P[:, free][free], q=q, A=mine.A[:, free], b=b)

    def ranges(self, values: Array) -> Ranges:
        """What the given variables leave to the others."""
        lo, hi = np.where(self.fixed, values, -np.inf), np.where(self.fixed, values, np.inf)
        ranges = Ranges(self.mine, (lo, hi))
        ranges.narrow()
        return ranges

    def at_ends(self, values: Array) -> Point | None:
        """The free variables at ends of their ranges, or between: without a solver."""
        ends = np.where(self.fixed, values, self.ends(self.ranges(values)))
        point = self.enclosed(ends)
        # ranges that leave much open decide nothing
        if point is None or np.any(np.abs(point.x - ends) > 1e-6 * (1 + np.abs(ends))):
            return None
        return point

    def ends(self, ranges: Ranges) -> Array:
        """A point of ranges: ends where the objective falls towards them, or the middle."""
        lo, hi, q = ranges.lo, ranges.hi, self.program.q
        with np.errstate(all="ignore"):
            x = np.where(q > 0, lo, np.where(q < 0, hi, lo / 2 + hi / 2))
        for end in (lo, hi, np.zeros(len(q))):
            x = np.where(np.isfinite(x), x, end)
        return x

    def solved(self, values: Array, margin: float) -> tuple[Array, Proposal | None]:
        """The free variables of least objective as a solver finds them, and its multipliers."""
        x = np.where(self.fixed, values, 0.0)
        part = self.part(x)
        if part is None or not len(self.free):
            return x, None
        found = proposal(part, margin=margin)
        if found is not None:
            x[self.free] = found.x
        return x, found

    def completed(self, values: Array, margin: float, digits: int | None = None) -> Point | None:
        """The free variables of least objective, found by a solver, ``margin`` inside the cones.

        Parameters
        ----------
        values : (n,) array
        margin : float
        digits : int, optional
            Binary digits that are kept: on edges of cones nothing but few digits is exact.

        Returns
        -------
        Point or None
            Feasible for certain in every row that is not about given variables alone.
        """
        x, found = self.solved(values, margin)
        if found is None and len(self.free):
            return None
        if digits is not None:
            x = np.where(self.fixed, x, _few(x, digits))
        return self.enclosed(x)

    def attempts(self, values: Array) -> Iterator[tuple[float, Point]]:
        """Completions at ends of ranges, then ever further inside, with their margins, and of few digits."""
        ends = self.at_ends(values) if len(self.free) else None
        if ends is not None:
            yield 0.0, ends
        tries: list[tuple[float, int | None]] = [(margin, None) for margin in MARGINS]
        tries += [(0.0, 40), (0.0, 24), (0.0, 12)] if len(self.free) else []
        for margin, digits in tries:
            point = self.completed(values, margin, digits)
            if point is not None:
                yield margin, point

    def enclosed(
        self, x: Array, active: Array | None = None, passes: int = 6, lenient: bool = False
    ) -> Point | None:
        """The point moved onto the equations and into the cones, if that is certain to succeed.

        Parameters
        ----------
        x : (n,) array
        active : array of int, optional
            Rows of the nonnegative block that are met as equations.
        passes : int
        lenient : bool
            Leave out equations that others contradict.
        """
        program = self.program
        if not np.all(np.isfinite(x)):
            return None
        equations = np.zeros(len(program.b), dtype=bool)
        equations[: program.zero] = self.used[: program.zero]
        if active is not None:
            equations[active] = True
        met = equations | ~self.used
        best = np.inf
        for _ in range(passes):
            point = self._on_equations(x, np.flatnonzero(equations), lenient)
            if point is None:
                return None
            far = outside(program, point.x, point.eta, met)
            largest = float(far.max(initial=0.0))
            if largest == 0:
                return point
            # a detour is worth its time in small programs
            if not largest < best * (4 if len(met) <= SMALL else 1):
                return None
            best = min(best, largest)
            x = pushed(program, point.x, ~self.fixed, far)
            if not np.all(np.isfinite(x)):
                return None
        return None

    def _on_equations(self, x: Array, rows: Array, lenient: bool) -> Point | None:
        """Move the free variables onto the equations."""
        still = Point(x, np.zeros(len(x)))
        if len(rows) == 0:
            return still
        A, b = self.program.rows[rows], exact(self.program.b[rows])
        left = b + -times(A, x)
        C = A[:, self.free]
        empty = np.diff(C.indptr) == 0
        with np.errstate(all="ignore"):
            wrong = np.abs(left.middle) > left.error * (1 + 8 * EPS) + TINY
        unsure = np.flatnonzero(~wrong & (empty | (not wrong.any())))
        exactly = Dyadic.of(self.program.b[rows[unsure]]) - product(A[unsure], Dyadic.of(x))
        wrong[unsure] = ~exactly.zero
        if not wrong.any():
            return still
        if np.any(wrong & empty):
            return None  # nothing that may move is in it
        try:
            return self._solved(x, A[~empty], C[~empty], self.program.b[rows[~empty]])
        except Unproven:
            known = self.dependent
        if known is None or (known.contradiction and not lenient):
            return None
        needed = np.concatenate(
            (known.kept, np.arange(int(self.used[: self.program.zero].sum()), len(rows)))
        )
        needed = needed[~empty[needed]]
        try:
            return self._solved(x, A[needed], C[needed], self.program.b[rows[needed]])
        except Unproven:
            return None

    def _solved(self, x: Array, A: Any, C: Any, b: Array) -> Point:
        weights = self._mobility(x)[self.free]
        idle = (C != 0) @ (weights > 0) == 0
        if idle.any():  # nothing in them moves: they hold, or they do not
            left_over = Dyadic.of(b[idle]) - product(A[idle], Dyadic.of(x))
            if not left_over.zero.all():
                raise Unproven("an equation has no unknown that may move")
            A, C, b = A[~idle], C[~idle], b[~idle]
        if not len(b):
            return Point(x, np.zeros(len(x)))
        try:
            system = system_of(C, weights)
        except Unproven:  # of the unknowns that move, some equations follow from others
            kept = self._needed(x, A, C, b, weights > 0)
            A, C, b = A[kept], C[kept], b[kept]
            if not len(b):
                return Point(x, np.zeros(len(x)))
            system = system_of(C, weights)
        x = x.copy()
        for _ in range(3):
            left = exact(b) + -times(A, x)
            step = system.step(left.middle.astype(float))
            if not np.all(np.isfinite(step)):
                raise Unproven("the equations are too badly scaled")
            x[self.free] += step
        eta = np.zeros(len(x))
        eta[self.free] = system.reach(exact(b) + -times(A, x))
        if not np.all(np.isfinite(eta)):
            raise Unproven("the equations are too badly scaled")
        return Point(x, eta)

    def _needed(self, x: Array, A: Any, C: Any, b: Array, moving: Array) -> Array:
        """Equations of which the others are exact combinations, in the unknowns that move."""
        still = x.copy()
        still[self.free[moving]] = 0.0
        constants = Dyadic.of(b) - product(A, Dyadic.of(still))
        known = None
        if np.array_equal(constants.above(), constants.below()):
            known = dependencies(C[:, np.flatnonzero(moving)], constants.above())
        if known is None or known.contradiction:
            raise Unproven("the equations are dependent")
        return known.kept

    def _mobility(self, x: Array) -> Array:
        """How far variables may move: as far as rows of one entry let them (a proposal)."""
        program = self.program
        cones = program.rows[program.zero :]
        held = np.asarray(abs(cones).sum(axis=0)).ravel() > 0
        room = np.where(held, 1e-3, 1.0) * np.maximum(np.abs(x), 1.0)
        rows, columns, data = self._single()
        if len(rows):
            slack = (program.b[rows] - data * x[columns]) / np.abs(data)
            np.minimum.at(room, columns, np.maximum(slack, 0.0))
        return room

    def _single(self) -> tuple[Array, Array, Array]:
        """Inequalities of one entry: rows, columns, coefficients."""
        A, program = self.program.rows, self.program
        rows = np.flatnonzero(np.diff(A.indptr) == 1)
        rows = rows[(rows >= program.zero) & (rows < program.zero + program.nonneg)]
        at = A.indptr[rows]
        return rows, A.indices[at], A.data[at]

    def snapped(self, x: Array, active: Array) -> tuple[Array, Array]:
        """``x`` put onto the active rows of one entry, and the other active rows."""
        rows, columns, data = self._single()
        chosen = np.isin(rows, active) & ~self.fixed[columns]
        x = x.copy()
        with np.errstate(all="ignore"):
            bound = self.program.b[rows[chosen]] / data[chosen]
        # rounded into the range
        inner = np.nextafter(bound, np.where(data[chosen] > 0, -np.inf, np.inf))
        exactly = Dyadic.of(bound) * Dyadic.of(data[chosen]) - Dyadic.of(
            self.program.b[rows[chosen]]
        )
        x[columns[chosen]] = np.where(exactly.zero, bound, inner)
        return x, np.setdiff1d(active, rows)

    def repaired(self, x: Array, found: Proposal | None) -> Iterator[Point]:
        """Feasible points near ``x``: on the equations, and on the rows that multipliers call active."""
        program, y, others = self.program, x, np.zeros(0, dtype=int)
        if found is not None and program.nonneg:
            s = program.b - program.rows @ x
            rows = np.arange(program.zero, program.zero + program.nonneg)
            size = 1e-5 * (1 + np.abs(program.b[rows]))
            active = rows[(found.z[rows] > s[rows]) & (s[rows] < size)]
            y, others = self.snapped(x, active)
        tries = [(x, None), (y, others)] if len(others) else [(y, None), (x, None)]
        for start, met in tries[: 1 if y is x else 2]:
            point = self.enclosed(start, met)
            if point is not None:
                yield point

    def tightened(self, x: Array) -> Iterator[Point]:
        """Points of least objective with rows tightened, and on the way there from ``x``."""
        for margin in TIGHTENED:
            inner = proposal(self.program, margin=margin)
            start = None if inner is None else self.enclosed(inner.x)
            if start is None:
                continue
            for share in (-24, -17, -12, -8, -4, -2):  # shares 2^share of the way there
                point = self.enclosed(x + 2.0**share * (start.x - x), passes=2)
                if point is not None:
                    yield point
                    break
            yield start


def _few(x: Array, bits: int) -> Array:
    """Numbers of ``bits`` binary digits."""
    mantissa, exponent = np.frexp(x)
    return np.ldexp(np.round(mantissa * 2.0**bits) / 2.0**bits, exponent)


def relaxed_program(program: ConeProgram, push: float = 1e-6) -> ConeProgram:
    """The least t >= 0 with |equations| <= t and slacks within t of their cones, t the last variable."""
    A, low, n = program.rows, program.zero, len(program.q)
    one, b = sp.csr_array(np.ones((low, 1))), program.b
    rows: list[Any] = [
        sp.hstack([sp.csr_array((1, n)), sp.csr_array([[-1.0]])]),
        sp.hstack([A[:low], -one]),
        sp.hstack([-A[:low], -one]),
        sp.hstack([A[low:], sp.csr_array(-program.inwards()[low:, None])]),
    ]
    size = float(np.abs(program.q).max(initial=0.0))
    return ConeProgram(
        sp.csc_array((n + 1, n + 1)),
        np.concatenate((push / max(size, 1.0) * program.q, [1.0])),
        sp.vstack(rows).tocsc(),
        np.concatenate(([0.0], b[:low], -b[:low], b[low:])),
        nonneg=program.nonneg + 1 + 2 * low,
        soc=program.soc,
        exp=program.exp,
        other=program.other,
    )
