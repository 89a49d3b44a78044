"""Points that are feasible for certain, and what the objective is at most there.

A point is kept as exact numbers x and a radius eta: it is proven that some point within eta (entry by
entry) of x meets the equations exactly, and that the cones hold wherever in that box it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve._types import Array
from refsolve.cones.dyadic import Dyadic, product
from refsolve.cones.membership import inside
from refsolve.cones.nearby import Equations, Unproven
from refsolve.cones.program import ConeProgram
from refsolve.cones.pushing import pushed
from refsolve.cones.solving import proposal


@dataclass(frozen=True)
class Enclosed:
    """A point near ``x``, within ``eta``."""

    x: Dyadic
    eta: Array

    def objective(self, program: ConeProgram) -> Fraction:
        """At least the objective at the point."""
        Px = product(program.P, self.x)
        value = (self.x * Px).total() / 2 + (self.x * Dyadic.of(program.q)).total()
        if np.any(self.eta):
            eta = Dyadic.of(self.eta)
            slope = Px + Dyadic.of(program.q)
            value += (Dyadic(np.abs(slope.numbers), slope.bits) * eta).total()
            value += (eta * product(abs(program.P), eta)).total() / 2
        return value


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
        shape = self.part(np.zeros(n))
        assert shape is not None  # nothing is multiplied
        self.shape = shape
        self._equations: Equations | Unproven | None = None

    def _rows(self) -> Array:
        """Rows to be met: all but those (and those cones) that only given variables are in."""
        program = self.program
        A = sp.csr_array(program.A)
        given = np.diff(A[:, np.flatnonzero(self.fixed)].indptr) > 0
        mine = np.diff(A[:, self.free].indptr) > 0
        used = mine | ~given
        blocks = list(program.second_order)
        blocks += [slice(start, start + 3) for start in program.exponential.tolist()]
        for block in blocks:
            used[block] = mine[block].any() or not given[block].any()
        return used

    def part(self, base: Array) -> ConeProgram | None:
        """The program in the free variables; None if its numbers are too large for floats."""
        program, used = self.program, self.used
        P = sp.csc_array(program.P)
        with np.errstate(over="ignore", invalid="ignore"):
            q = program.q[self.free] + (P @ base)[self.free]
            b = (program.b - program.A @ base)[used]
        if not (np.all(np.isfinite(q)) and np.all(np.isfinite(b))):
            return None
        return ConeProgram(
            P[:, self.free][self.free],
            q,
            sp.csc_array(sp.csr_array(program.A)[np.flatnonzero(used)][:, self.free]),
            b,
            zero=int(used[: program.zero].sum()),
            nonneg=int(used[program.zero : program.zero + program.nonneg].sum()),
            soc=tuple(c.stop - c.start for c in program.second_order if used[c.start]),
            exp=int(used[program.exponential].sum()),
        )

    def completed(self, values: Array, margin: float) -> Enclosed | None:
        """The free variables of least objective, found by a solver, ``margin`` inside the cones.

        Returns
        -------
        Enclosed or None
            Feasible for certain in every row that is not about given variables alone.
        """
        x = np.where(self.fixed, values, 0.0)
        part = self.part(x)
        if part is None:
            return None
        if len(self.free):
            found = proposal(part, margin=margin)
            if found is None:
                return None
            x[self.free] = found.x
        point = self.enclosed(x)
        if point is None and len(self.free):
            for bits in (40, 24, 12):  # on edges of the cones nothing but few digits is exact
                few = np.where(self.fixed, x, _few(x, bits))
                point = point or self.enclosed(few)
            if point is None:
                y = x.copy()
                y[self.free] = pushed(part, x[self.free])
                point = self.enclosed(y)
        return point

    def enclosed(self, x: Array) -> Enclosed | None:
        """The point moved onto the equations, if it is then certain to be in the cones."""
        if not np.all(np.isfinite(x)):
            return None
        point = self._on_equations(x)
        if point is None:
            return None
        program, rows = self.program, np.flatnonzero(self.used)
        A = sp.csr_array(program.A)[rows]
        s = Dyadic.of(program.b[rows]) - product(A, point.x)
        reach = product(abs(A), Dyadic.of(point.eta))
        return point if inside(self.shape, s, reach) else None

    def _on_equations(self, x: Array) -> Enclosed | None:
        """Move the free variables onto the equations."""
        exact, eta = Dyadic.of(x), np.zeros(len(x))
        rows = np.flatnonzero(self.used[: self.program.zero])
        if len(rows) == 0:
            return Enclosed(exact, eta)
        A = sp.csr_array(self.program.A)[rows]
        target = Dyadic.of(self.program.b[rows]) - product(A, exact)
        empty = np.diff(A[:, self.free].indptr) == 0
        if not target.zero[empty].all():
            return None  # nothing that may move is in it
        if target.zero.all():
            return Enclosed(exact, eta)
        system = A[np.flatnonzero(~empty)][:, self.free]
        try:
            if self._equations is None:
                whole = A[np.flatnonzero(~empty)], Dyadic.of(self.program.b[rows[~empty]])
                self._equations = Equations(system, self._mobility(), whole=whole)
            if isinstance(self._equations, Unproven):
                return None
            change, near = self._equations.near(target[~empty])
        except Unproven as refused:
            self._equations = self._equations or refused
            return None
        moved = np.zeros(len(x), dtype=object)
        moved[self.free] = change.numbers
        eta[self.free] = near
        return Enclosed(exact + Dyadic(moved, change.bits), eta)

    def _mobility(self) -> Array:
        """Variables that no cone holds move first (a proposal)."""
        cones = sp.csr_array(self.program.A)[self.program.zero :][:, self.free]
        held = np.asarray(abs(cones).sum(axis=0)).ravel() > 0
        return np.where(held, 1e-3, 1.0)

    def repaired(self, x: Array, margins: tuple[float, ...]) -> Enclosed | None:
        """A feasible point near ``x``: on the way to one inside the cones, as near as succeeds."""
        for margin in margins:
            inner = proposal(self.program, margin=margin)
            best = None if inner is None else self.enclosed(inner.x)
            if inner is None or best is None:
                continue
            low, high = -50, 0  # shares 2^low ... 2^high of the way
            while low < high:
                middle = (low + high) // 2
                found = self.enclosed(x + 2.0**middle * (inner.x - x))
                if found is None:
                    low = middle + 1
                else:
                    high, best = middle, found
            return best
        return None


def _few(x: Array, bits: int) -> Array:
    """Numbers of ``bits`` binary digits."""
    mantissa, exponent = np.frexp(x)
    return np.ldexp(np.round(mantissa * 2.0**bits) / 2.0**bits, exponent)


def relaxed(program: ConeProgram, fixed: Array, x: Array) -> Array:
    """Other variables with which the values violate as little as a solver can find (a proposal)."""
    free = np.flatnonzero(~fixed)
    A = sp.csr_array(program.A)
    point = np.where(fixed, x, 0.0)
    left = program.b - A @ point
    if not np.all(np.isfinite(left)):
        return point
    low = program.zero
    part, one = A[:, free], sp.csr_array(np.ones((low, 1)))
    rows: list[Any] = [
        sp.hstack([sp.csr_array((1, len(free))), sp.csr_array([[-1.0]])]),
        sp.hstack([part[:low], -one]),
        sp.hstack([-part[:low], -one]),
        sp.hstack([part[low:], sp.csr_array(-program.inwards()[low:, None])]),
    ]
    q = np.concatenate((1e-6 * program.q[free], [1.0]))
    loose = ConeProgram(
        sp.csc_array((len(q), len(q))),
        q,
        sp.vstack(rows).tocsc(),
        np.concatenate(([0.0], left[:low], -left[:low], left[low:])),
        nonneg=program.nonneg + 1 + 2 * low,
        soc=program.soc,
        exp=program.exp,
    )
    found = proposal(loose)
    if found is not None:
        point[free] = found.x[:-1]
    return point


def _descent(program: ConeProgram) -> ConeProgram:
    """What a direction of endless descent has to obey, of slope -1."""
    n = len(program.q)
    P = sp.csr_array(program.P)
    used = np.diff(P.indptr) > 0
    flat = int(used.sum())
    parts: list[Any] = [P[used], sp.csr_array(program.q[None, :]), sp.csr_array(program.A)]
    return ConeProgram(
        sp.csc_array((n, n)),
        np.zeros(n),
        sp.vstack(parts).tocsc(),
        np.concatenate((np.zeros(flat), [-1.0], np.zeros(len(program.b)))),
        zero=program.zero + flat + 1,
        nonneg=program.nonneg,
        soc=program.soc,
        exp=program.exp,
    )


def direction(program: ConeProgram) -> Array | None:
    """A direction of endless descent: Pd = 0, q'd < 0, -Ad in the cones, exactly."""
    found = proposal(_descent(program)) if np.any(program.q) else None
    if found is None:
        return None
    # on edges of the cones nothing but few digits is exact
    tries = [found.x] + [np.round(found.x * 2.0**k) / 2.0**k for k in (0, 4, 10, 20)]
    for floats in tries:
        d = Dyadic.of(floats)
        falls = (d * Dyadic.of(program.q)).total() < 0
        if falls and product(program.P, d).zero.all():
            s = -product(program.A, d)
            still = Dyadic.of(np.zeros(len(s)))
            if s.zero[: program.zero].all() and inside(program, s, still):
                return floats
    return None


def ray(program: ConeProgram) -> bool:
    """Whether a direction of endless descent is certain to exist."""
    if not np.any(program.q) or direction(program) is not None:
        return bool(np.any(program.q))
    directions, zero = Completion(_descent(program)), np.zeros(len(program.q))
    return any(directions.completed(zero, m) is not None for m in (1e-9, 1e-6, 1e-3))
