"""Lower bounds on a cone program that hold whatever a solver did.

For every w and every z in the dual cone, with r = Pw + q + A'z, convexity and <z, s> >= 0 give at
every feasible x

    f(x) >= -1/2 w'Pw - b'z + r'x + 1/2 (x - w)'P(x - w).

What is left is the least of r'x + 1/2 sum d_i (x_i - w_i)^2 over what is known of x, coordinate by
coordinate: a range, a curvature d_i, or r_i = 0 exactly. A residual that is not zero where nothing is
known is removed by a change of z and w that is proven to exist (`linear_systems`), not computed: of the
size eta, inside the dual cone because z has that much room there.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve._types import Array
from refsolve.cones.dependencies import dependencies
from refsolve.cones.dyadic import Dyadic, product
from refsolve.cones.enclosure import (
    EPS,
    LONG,
    TINY,
    UNIT,
    Enclosed,
    dot,
    exact,
    rational,
    reach,
    times,
)
from refsolve.cones.linear_systems import Unproven, system_of
from refsolve.cones.membership import followed, into_dual, room
from refsolve.cones.program import ConeProgram

#: Most equations of which dependent ones are looked for.
FEW = 300


@dataclass(frozen=True)
class LowerBound:
    """A number that no feasible point is below.

    Attributes
    ----------
    value : Fraction or None
        None if nothing could be proven.
    reason : str
        Why not.
    by : tuple of str
        What the bound rests on: "ranges", "curvature", "exact multipliers".
    """

    value: Fraction | None
    reason: str = ""
    by: tuple[str, ...] = ()


def lower_bound(
    program: ConeProgram,
    z: Array,
    w: Array,
    lo: Array,
    hi: Array,
    curvature: Array | None,
    worth: float = np.inf,
) -> LowerBound:
    """Bound from multipliers ``z`` and a point ``w``, neither of which is believed.

    Parameters
    ----------
    program : ConeProgram
    z : (m,) array
        Brought into the dual cone first.
    w : (n,) array
        Where the quadratic part is linearised.
    lo, hi : (n,) arrays
        Ranges that every feasible point worth looking at keeps (`ranges`).
    curvature : (n,) array or None
        d with P - diag(d) positive semidefinite; None: not certain, nothing follows.
    worth : float
        A residual is removed exactly where its range would cost more than that.
    """
    if curvature is None:
        return LowerBound(None, "the quadratic part is not certain to be convex")
    try:
        return _bound(program, z, w, lo, hi, curvature, worth)
    except OverflowError:
        return LowerBound(None, "the numbers are beyond the range of floats")


def _bound(
    program: ConeProgram, z: Array, w: Array, lo: Array, hi: Array, curvature: Array, worth: float
) -> LowerBound:
    if not (np.all(np.isfinite(z)) and np.all(np.isfinite(w))):
        return LowerBound(None, "the multipliers or the point are not finite")
    z = into_dual(program, z)
    if not np.all(np.isfinite(z)):
        return LowerBound(None, "the multipliers are too far outside the dual cone")
    w, eta_w, eta_z = w.copy(), np.zeros(len(w)), np.zeros(len(z))
    columns = np.zeros(len(w), dtype=bool)
    by: list[str] = []
    while True:
        r = _residual(program, z, w)
        if columns.any():
            spread = reach(program.columns.T, eta_z) + reach(program.P, eta_w)
            r = Enclosed(np.where(columns, 0, r.middle), np.where(columns, 0.0, r.error + spread))
        needed = _unbounded(r, lo, hi, curvature, worth) & ~columns
        chosen = np.flatnonzero(needed)
        if not len(chosen):
            break
        if not columns.any() and np.all(_exactly_zero(program, z, w, chosen)):
            r = Enclosed(np.where(needed, 0, r.middle), np.where(needed, 0.0, r.error))
            break
        columns |= needed
        try:
            z, w, eta_z, eta_w = _without_residual(program, z, w, np.flatnonzero(columns))
        except Unproven as refused:
            return LowerBound(None, str(refused))
    if columns.any():
        by.append("exact multipliers")
    value, off = _constant(program, z, w, eta_z, eta_w)
    rest = _least(r, w, eta_w, lo, hi, curvature, by)
    if rest is None:
        return LowerBound(None, "a variable without a range has a residual of its own")
    if not np.isfinite(off) or not np.isfinite(rest):
        return LowerBound(None, "the numbers are beyond the range of floats")
    return LowerBound(value - Fraction(off) + Fraction(rest), by=tuple(dict.fromkeys(by)))


def _residual(program: ConeProgram, z: Array, w: Array) -> Enclosed:
    """Pw + q + A'z."""
    return times(program.P, w) + exact(program.q) + times(program.columns.T, z)


def _exactly_zero(program: ConeProgram, z: Array, w: Array, columns: Array) -> Array:
    """Where the residual is 0, in exact arithmetic."""
    if len(columns) == 0:
        return np.zeros(0, dtype=bool)
    r = product(sp.csr_array(program.columns.T)[columns], Dyadic.of(z))
    r = r + Dyadic.of(program.q[columns])
    return (r + product(sp.csr_array(program.P)[columns], Dyadic.of(w))).zero


def _unbounded(r: Enclosed, lo: Array, hi: Array, curvature: Array, worth: float) -> Array:
    """Where neither range nor curvature bounds r_i x_i, or only at a high price."""
    with np.errstate(all="ignore"):
        top, bottom = r.above(), r.below()
        up, down = top > 0, bottom < 0
        open_ = (up & ~np.isfinite(lo)) | (down & ~np.isfinite(hi))
        cost = np.where(up & down, 0, r.size()) * (hi - lo)
        return (curvature <= 0) & (open_ | (cost > worth)) & (r.size() > 0)


def _without_residual(
    program: ConeProgram, z: Array, w: Array, columns: Array
) -> tuple[Array, Array, Array, Array]:
    """Multipliers and a point within eta of which the residual in ``columns`` is exactly 0.

    They are kept as long floats, since what they leave over is divided by the room that there is.
    """
    m = len(z)
    C = sp.hstack([program.columns.T.tocsr()[columns], sp.csr_array(program.P)[columns]]).tocsr()
    curved = np.asarray(abs(C[:, m:]).sum(axis=0)).ravel() > 0
    moved = np.where(curved, np.maximum(np.abs(w), 1), 0.0)
    weights = np.concatenate((freedom(program, z), moved)).astype(float)
    # where the room is of one size, equal weights make for the best equations
    flat = np.where(weights > 1e-6 * weights[:m].max(initial=0.0), 1.0, 0.0)
    refused = Unproven("the multipliers have no room inside the dual cone")
    for given in (flat, weights):
        try:
            moved_z, moved_w, eta = _moved(program, z, w, C, columns, given)
        except Unproven as reason:
            refused = reason
            continue
        near = moved_z.astype(float)
        apart = np.abs(moved_z - near.astype(LONG)).astype(float)
        near = followed(program, near, eta[:m] + 2 * apart)
        moved_z = np.where(program.constant, near, moved_z)
        around = np.where(apart > 0, np.nextafter(eta[:m] + 2 * apart, np.inf), eta[:m])
        if np.all(np.isfinite(around)) and room(program, near, around):
            return moved_z, moved_w, eta[:m], eta[m:]
        refused = Unproven("the multipliers have no room inside the dual cone")
    raise refused


def _moved(
    program: ConeProgram, z: Array, w: Array, C: Any, columns: Array, weights: Array
) -> tuple[Array, Array, Array]:
    """The multipliers and the point moved, and how far from there the equations hold exactly."""
    m = len(z)
    try:
        system = system_of(C, weights)
    except Unproven:
        small = len(columns) <= FEW
        known = dependencies(C, -program.q[columns]) if small else None
        if known is None or known.contradiction:
            raise
        C, columns = C[known.kept], columns[known.kept]
        system = system_of(C, weights)
    z, w = z.astype(LONG), w.astype(LONG)
    for _ in range(4):
        left = _residual(program, z, w)[columns]
        step = system.step(-left.middle.astype(float))
        if not np.all(np.isfinite(step)):
            raise Unproven("the equations are too badly scaled")
        z, w = z + step[:m], w + step[m:]
    return z, w, system.reach(_residual(program, z, w)[columns])


def freedom(program: ConeProgram, z: Array) -> Array:
    """How far each multiplier may move, roughly (a proposal; `room` decides)."""
    free = np.zeros(len(z))
    low, high = program.zero, program.zero + program.nonneg
    free[:low] = np.maximum(1.0, np.abs(z[:low]))
    free[low:high] = z[low:high]
    with np.errstate(all="ignore"):
        for rows in program.second_order:
            free[rows] = max(z[rows.start] - float(np.linalg.norm(z[rows][1:])), 0.0) / 2
        u, v, w = (z[program.exponential + i] for i in range(3))
        slack = w + u * np.exp(np.minimum(v / np.where(u < 0, u, -1) - 1, 700))
        slope = 1 + w / np.where(u < 0, -u, 1) * (2 + np.abs(v / np.where(u < 0, u, -1)))
        inner = np.where(u < 0, np.maximum(np.minimum(-u / 2, slack / (4 * slope)), 0), 0.0)
    follows = np.any([program.constant[program.exponential + i] for i in (1, 2)], axis=0)
    for i, own in enumerate((np.abs(u) / 2, np.maximum(np.abs(u), np.abs(v)) / 2, w / 2)):
        free[program.exponential + i] = np.where(follows & (u < 0), own, inner)
    for block, rows in program.more:
        free[rows] = block.freedom(z[rows])
    return np.where(np.isfinite(free), free, 0.0)


def _constant(
    program: ConeProgram, z: Array, w: Array, eta_z: Array, eta_w: Array
) -> tuple[Fraction, float]:
    """-1/2 w'Pw - b'z, and how much less it may be."""
    Pw = times(program.P, w)
    quadratic, off = dot(w, Pw.middle)
    linear, more = dot(program.b, z)
    with np.errstate(all="ignore"):
        lost = float(np.abs(w) @ Pw.error) / 2 + float(np.abs(program.b) @ eta_z)
        lost += float(Pw.size() @ eta_w) + float(eta_w @ reach(program.P, eta_w))
        lost = lost * (1 + (len(w) + len(z) + 16) * EPS)
    lost += float(off) / 2 * (1 + 8 * EPS) + float(more) * (1 + 8 * EPS) + TINY
    return -quadratic / 2 - linear, lost * (1 + 8 * EPS)


def _least(
    r: Enclosed, w: Array, eta: Array, lo: Array, hi: Array, curvature: Array, by: list[str]
) -> float | None:
    """Least of sum r_i x_i + d_i/2 (x_i - w_i)^2 over the ranges; None if there is none."""
    active = (r.size() > 0) | (curvature < 0)
    if not active.any():
        return 0.0
    r, w, eta = r[active], w[active], eta[active]
    lo, hi, d = lo[active], hi[active], curvature[active]
    low, high = r.middle - r.error * (1 + 8 * UNIT), r.middle + r.error * (1 + 8 * UNIT)
    low, high = np.nextafter(low, LONG(-np.inf)), np.nextafter(high, LONG(np.inf))
    none = LONG(-np.inf)
    with np.errstate(all="ignore"):
        # slope * x over [lo, hi], least over slopes in [low, high]: at corners
        corner = np.full(len(d), LONG(np.inf))
        for slope in (low, high):
            end = np.where(slope > 0, lo, hi).astype(LONG)
            part = slope * end
            part = np.where(slope == 0, LONG(0), np.where(np.isfinite(end), part, none))
            corner = np.minimum(corner, part)
        corner = corner - np.abs(corner) * (4 * UNIT) - TINY
        bowl = np.full(len(d), none)
        bent = d > 0
        if bent.any():
            size = np.maximum(np.abs(low[bent]), np.abs(high[bent]))
            far = np.abs(w[bent]).astype(LONG) + eta[bent]
            middle = r.middle[bent] * w[bent].astype(LONG)
            off = r.error[bent] * far + size * eta[bent]
            part = middle - off - size * size / (2 * d[bent])
            rough = np.abs(middle) + off + size * size / (2 * d[bent])
            bowl[bent] = part - rough * (16 * UNIT) - TINY
        lack = d < 0
        if lack.any():  # what the form may lack of being convex
            far = np.maximum(np.abs(hi - w), np.abs(lo - w)) + eta
            pay = far.astype(LONG) ** 2 * d / 2 * (1 + 16 * EPS) - TINY
            corner = np.where(lack, corner + np.where(np.isfinite(pay), pay, none), corner)
        best = np.maximum(corner, bowl)
        best = np.where(np.isnan(best), none, best)
        if not np.all(np.isfinite(best)):
            return None
        total = np.sum(best)
        off = np.sum(np.abs(best)) * ((len(best) + 8) * UNIT)
    by.extend(["curvature"] if np.any(bowl >= corner) else [])
    by.extend(["ranges"] if np.any(corner > bowl) else [])
    value = rational(total) - rational(off) * 2 - Fraction(TINY)
    near = float(value)
    return float(np.nextafter(near, -np.inf))
