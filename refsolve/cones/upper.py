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
from refsolve.cones.membership import inside, violation
from refsolve.cones.nearby import Unproven, solution_near
from refsolve.cones.program import ConeProgram
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


def outside(program: ConeProgram, x: Dyadic) -> float:
    """At least the largest distance of a row's slack from its cone."""
    s = Dyadic.of(program.b) - product(program.A, x)
    return float(violation(program, s).max(initial=0.0))


def completed(program: ConeProgram, fixed: Array, values: Array, margin: float) -> Enclosed | None:
    """The other variables of least objective, rows that only fixed ones are in left out.

    Parameters
    ----------
    program : ConeProgram
    fixed : (n,) array of bool
        Variables that keep ``values``.
    values : (n,) array
    margin : float
        How far inside the cones the proposal is to be.

    Returns
    -------
    Enclosed or None
        Feasible for certain in every row that has a variable which is not fixed.
    """
    free = np.flatnonzero(~fixed)
    base = np.where(fixed, values, 0.0)
    part, rows = _restricted(program, free, base)
    x = np.array(base)
    if len(free):
        found = proposal(part, margin=margin)
        if found is None:
            return None
        x[free] = found.x
    return _enclosed(part, rows, program, free, x)


def repaired(program: ConeProgram, x: Array, margins: tuple[float, ...]) -> Enclosed | None:
    """A feasible point near ``x``: on the way to one inside the cones, as near as succeeds."""
    best = None
    for margin in margins:
        inner = proposal(program, margin=margin)
        if inner is None:
            continue
        low, high = -50, 0  # shares 2^low ... 2^high of the way
        if enclosed(program, inner.x) is None:
            continue
        while low < high:
            middle = (low + high) // 2
            point = x + 2.0**middle * (inner.x - x)
            found = enclosed(program, point)
            if found is None:
                low = middle + 1
            else:
                high, best = middle, found
        best = best or enclosed(program, inner.x)
        break
    return best


def enclosed(program: ConeProgram, x: Array) -> Enclosed | None:
    """The point moved onto the equations, if it is then certain to be feasible."""
    free, rows = np.arange(len(x)), np.arange(len(program.b))
    return _enclosed(program, rows, program, free, x)


def _enclosed(
    part: ConeProgram, rows: Array, program: ConeProgram, free: Array, x: Array
) -> Enclosed | None:
    """The point moved onto the equations, if it is then certain to be in the cones."""
    point = _on_equations(part, rows, program, free, x)
    if point is None:
        return None
    s = (Dyadic.of(program.b) - product(program.A, point.x))[rows]
    reach = product(abs(program.A), Dyadic.of(point.eta))[rows]
    return point if inside(part, s, reach) else None


def _on_equations(
    part: ConeProgram, rows: Array, program: ConeProgram, free: Array, x: Array
) -> Enclosed | None:
    """Move the free variables onto the equations."""
    exact, eta = Dyadic.of(x), np.zeros(len(x))
    if part.zero == 0:
        return Enclosed(exact, eta)
    equations = rows[: part.zero]
    target = (Dyadic.of(program.b) - product(program.A, exact))[equations]
    try:
        change, near = solution_near(part.A.tocsr()[: part.zero], target, _mobility(part))
    except Unproven:
        return None
    whole = np.zeros(len(x), dtype=object)
    whole[free] = change.numbers
    eta[free] = near
    return Enclosed(exact + Dyadic(whole, change.bits), eta)


def _mobility(part: ConeProgram) -> Array:
    """Variables that no cone holds move first (a proposal)."""
    held = np.asarray(abs(part.A.tocsr()[part.zero :]).sum(axis=0)).ravel() > 0
    return np.where(held, 1e-3, 1.0)


def _restricted(program: ConeProgram, free: Array, base: Array) -> tuple[ConeProgram, Array]:
    """The program in the free variables, and the rows that it keeps."""
    A = program.A.tocsc()[:, free].tocsr()
    used = np.diff(A.indptr) > 0
    soc = []
    for cone in program.second_order:
        used[cone] = used[cone].any()
        if used[cone.start]:
            soc.append(cone.stop - cone.start)
    for start in program.exponential.tolist():
        used[start : start + 3] = used[start : start + 3].any()
    rows = np.flatnonzero(used)
    P = sp.csc_array(program.P)
    part = ConeProgram(
        P[:, free][free],
        program.q[free] + (P @ base)[free],
        A[rows].tocsc(),
        (program.b - program.A @ base)[rows],
        zero=int(used[: program.zero].sum()),
        nonneg=int(used[program.zero : program.zero + program.nonneg].sum()),
        soc=tuple(soc),
        exp=int(used[program.exponential].sum()),
    )
    return part, rows


def relaxed(program: ConeProgram, fixed: Array, x: Array) -> Array:
    """Other variables with which the values violate as little as a solver can find (a proposal)."""
    free = np.flatnonzero(~fixed)
    A = sp.csr_array(program.A)
    left = program.b - A @ np.where(fixed, x, 0.0)
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
    point = np.where(fixed, x, 0.0)
    if found is not None:
        point[free] = found.x[:-1]
    return point


def ray(program: ConeProgram) -> bool:
    """Whether a direction of endless descent is certain: Pd = 0, q'd < 0, -Ad in the cones."""
    n = len(program.q)
    P = sp.csr_array(program.P)
    used = np.diff(P.indptr) > 0
    flat = int(used.sum())
    parts: list[Any] = [P[used], sp.csr_array(program.q[None, :]), sp.csr_array(program.A)]
    cone = ConeProgram(
        sp.csc_array((n, n)),
        np.zeros(n),
        sp.vstack(parts).tocsc(),
        np.concatenate((np.zeros(flat), [-1.0], np.zeros(len(program.b)))),
        zero=program.zero + flat + 1,
        nonneg=program.nonneg,
        soc=program.soc,
        exp=program.exp,
    )
    found = proposal(cone)
    if found is None:
        return False
    # on edges of the cones nothing but few digits is exact
    tries = [found.x] + [np.round(found.x * 2.0**k) / 2.0**k for k in (0, 4, 10, 20)]
    for d in map(Dyadic.of, tries):
        falls = (d * Dyadic.of(program.q)).total() < 0
        if falls and product(program.P, d).zero.all():
            s = -product(program.A, d)
            still = Dyadic.of(np.zeros(len(s)))
            if s.zero[: program.zero].all() and inside(program, s, still):
                return True
    nothing = np.zeros(n, dtype=bool)
    return any(completed(cone, nothing, np.zeros(n), m) is not None for m in (1e-9, 1e-6, 1e-3))
