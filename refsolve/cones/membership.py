"""Points of the cones and of their duals: how far outside one is, and the nearest way in.

The dual of {0} is everything, the nonnegative numbers and the second-order cone are their own, and
that of the exponential cone is closure{(u, v, w): u < 0, -u e^(v/u - 1) <= w} (Boyd & Vandenberghe
2004, 2.6; Chares 2009). Comparisons are exact; exponentials are rounded outwards.
"""

from __future__ import annotations

import decimal
import math
from fractions import Fraction

import numpy as np
import scipy.sparse as sp

from refsolve._types import Array
from refsolve.cones.dyadic import Dyadic, product, up
from refsolve.cones.enclosure import (
    EPS,
    LONG,
    TINY,
    UNIT,
    Enclosed,
    exact,
    exponential,
    reach,
    times,
)
from refsolve.cones.program import ConeProgram

ZERO = Fraction(0)
_DIGITS = 40


def exp_above(value: Fraction, factor: Fraction) -> float:
    """A float that is at least ``factor * exp(value)``, for a factor >= 0."""
    if factor == 0:
        return 0.0
    if abs(value) > 10_000:  # beyond any float, and slow
        return float("inf") if value > 0 else up(factor / 10**4000)
    with decimal.localcontext() as context:
        context.prec = _DIGITS
        context.rounding = decimal.ROUND_CEILING
        context.traps[decimal.Overflow] = False
        context.traps[decimal.Underflow] = False
        exponent = decimal.Decimal(value.numerator) / decimal.Decimal(value.denominator)
        scale = decimal.Decimal(factor.numerator) / decimal.Decimal(factor.denominator)
        # exp is rounded to nearest whatever the context says: one step up is above
        result = scale * exponent.exp(context).next_plus(context)
        return up(Fraction(result)) if result.is_finite() else float("inf")


def _norm_above(tail: Dyadic) -> Fraction:
    """A rational number that is at least the Euclidean norm, by less than one part in 2^60."""
    square = (tail * tail).total()
    if square == 0:
        return ZERO
    digits = square.numerator.bit_length() - square.denominator.bit_length()
    shift = max(0, (130 - digits) // 2 + 1)
    whole = Fraction(square.numerator << 2 * shift, square.denominator)
    root = math.isqrt(whole.numerator // whole.denominator)
    return Fraction(root + (root * root != whole), 1 << shift)


def in_exponential(x: Fraction, y: Fraction, z: Fraction) -> bool:
    """Whether y e^(x/y) <= z is certain (y = 0: x <= 0 <= z)."""
    if y == 0:
        return x <= 0 <= z
    return y > 0 and z > 0 and exp_above(x / y, y) <= z


def _outside_exponential(x: Fraction, y: Fraction, z: Fraction) -> Fraction:
    """At least the distance (sum of absolute changes) into the exponential cone."""
    corner = max(x, ZERO) + abs(y) + max(-z, ZERO)  # to (min(x, 0), 0, max(z, 0))
    if in_exponential(x, y, z):
        return ZERO
    if y <= 0:
        return corner
    needed = exp_above(x / y, y)
    choices = [corner] + ([Fraction(needed) - z] if np.isfinite(needed) else [])
    ratio = up(z / y)
    if 0 < ratio < np.inf:  # or x down to a number that is certainly low enough
        shift = x - y * Fraction(float(np.log(ratio)))
        shift = max(shift, ZERO) * (1 + Fraction(1, 2**40)) + abs(x) * Fraction(1, 2**45)
        if in_exponential(x - shift, y, z):
            choices.append(shift)
    return min(choices)


def violation(program: ConeProgram, s: Dyadic) -> Array:
    """How far each row, or the head of each cone, is outside; 0 exactly where it is inside.

    Distances are bounds from above: |s| in zero rows, -s, ||v|| - t, and the least change found that
    enters an exponential cone.
    """
    low, high = program.zero, program.zero + program.nonneg
    outside = np.zeros(len(s))
    absolute = Dyadic(np.abs(s.numbers[:low]), s.bits)
    outside[:low] = absolute.above()
    outside[low:high] = np.maximum((-s[low:high]).above(), 0.0)
    for rows in program.second_order:
        cone = s[rows]
        head, tail = cone.fraction(0), cone[1:]
        if head < 0 or head * head < (tail * tail).total():
            outside[rows.start] = up(max(_norm_above(tail) - head, -head))
    for start in program.exponential.tolist():
        point = s[start : start + 3]
        outside[start] = up(_outside_exponential(*(point.fraction(i) for i in range(3))))
    for block, rows in program.more:
        outside[rows.start] = block.violation(s[rows], np.zeros(block.size))
    return outside


def into_dual(program: ConeProgram, z: Array) -> Array:
    """A point of the dual cone near ``z``, certain to be in it."""
    low, high = program.zero, program.zero + program.nonneg
    inside = np.array(z, dtype=float)
    inside[low:high] = np.maximum(inside[low:high], 0.0)
    if program.soc:
        tails, cone = program.tails
        bound = norms(np.abs(inside[tails]), cone, len(program.soc)).above()
        short = inside[program.heads] < bound
        for k in np.flatnonzero(short & (inside[program.heads] >= bound * (1 - 1e-14))).tolist():
            rows = slice(int(program.heads[k]), int(program.heads[k]) + program.soc[k])
            bound[k] = up(_norm_above(Dyadic.of(inside[rows][1:])))
        inside[program.heads] = np.maximum(inside[program.heads], bound)
    threes = program.exponential[:, None] + np.arange(3)
    still = np.zeros(threes.shape)
    wrong = ~_in_dual_exponential(inside[threes], still)
    if wrong.any():
        inside[threes[wrong]] = followed(program, inside, 0 * inside)[threes[wrong]]
        wrong = ~_in_dual_exponential(inside[threes], still)
        inside[threes[wrong]] = _moved_into_dual(inside[threes[wrong]])
    for block, rows in program.more:
        inside[rows] = block.into_dual(inside[rows])
    return inside


def followed(program: ConeProgram, z: Array, eta: Array) -> Array:
    """Multipliers of constant rows of exponential cones as the other two need them, within ``eta`` of those.

    No variable is in such a row, so that no residual changes.
    """
    if not program.exp:
        return z
    (u, v, w), (du, dv, dw) = ([a[program.exponential + i] for i in range(3)] for a in (z, eta))
    second, third = (program.constant[program.exponential + i] for i in (1, 2))
    z = z.copy()
    with np.errstate(all="ignore"):
        size = -u
        grade = 1 + np.log(w / size)
        least = u * grade
        least = least + 1e-13 * (np.abs(least) + size)
        least += 2 * (dv + du * (1 + np.abs(grade)) + dw * size / w)
        good = second & (u < 0) & (w > 0) & np.isfinite(least)
        z[program.exponential + 1] = np.where(good, least, v)
        need = size * np.exp(v / u - 1) * (1 + 1e-13 * (8 + np.abs(v / u)))
        need = need + 2 * (dw + need / size * (dv + du * (1 + np.abs(v / u))))
        good = third & ~second & (u < 0) & np.isfinite(need)
        z[program.exponential + 2] = np.where(good, need, w)
    return z


def _moved_into_dual(z: Array) -> Array:
    """The cheapest of three ways into duals of the exponential cone, row by row."""
    u, v, w = z.T
    still = np.zeros(z.shape)
    edge = np.column_stack((0 * u, np.maximum(v, 0.0), np.maximum(w, 0.0)))
    best, cost = edge, np.abs(edge - z).sum(axis=1)
    with np.errstate(all="ignore"):
        power = v.astype(LONG) / u - 1
        error = (8 * UNIT * (np.abs(power) + 2)).astype(float)
        need = exponential(Enclosed(power, error))[1] * -u * (1 + 4 * UNIT) + LONG(TINY)
        up_ = np.column_stack((u, v, np.nextafter(need.astype(float), np.inf)))
        raised = u * (1.0 + np.log(w / -u))
        raised = raised + 1e-14 * (np.abs(raised) + np.abs(u))
        over = np.column_stack((u, np.maximum(raised, v), w))
        for way in (up_, over):
            good = (u < 0) & np.all(np.isfinite(way), axis=1)
            way = np.where(good[:, None], way, edge)
            price = np.abs(way - z).sum(axis=1)
            good &= _in_dual_exponential(way, still) & (price < cost)
            best = np.where(good[:, None], way, best)
            cost = np.where(good, price, cost)
    # on an edge that floats cannot decide: exactly
    for k in np.flatnonzero((cost > 0) & (cost <= 1e-14 * np.abs(z).sum(axis=1))):
        best[k] = _into_dual_exponential(*z[k].tolist())
    return best


def norms(sizes: Array, group: Array, count: int) -> Enclosed:
    """Euclidean norms of groups of nonnegative floats."""
    unit = np.full(count, 1e-300)
    np.maximum.at(unit, group, sizes)
    with np.errstate(all="ignore"):
        unit = np.exp2(np.ceil(np.log2(unit)))
        part = (sizes / unit[group]).astype(LONG)
        total = np.zeros(count, dtype=LONG)
        np.add.at(total, group, part * part)
        terms = np.bincount(group, minlength=count) + 8
        root = np.sqrt(total)
        error = (root * terms * UNIT).astype(float) * unit * (1 + 8 * EPS) + TINY
        return Enclosed(root * unit, np.where(np.isfinite(error), error, np.inf))


def _in_dual_exponential(z: Array, eta: Array) -> Array:
    """Which boxes z +- eta are in the dual of the exponential cone for certain: corners decide."""
    if len(z) == 0:
        return np.zeros(0, dtype=bool)
    (u, v, w), (du, dv, dw) = z.T.astype(LONG), eta.T.astype(LONG)
    spread = np.any(eta > 0, axis=1)
    good = u + du < 0
    with np.errstate(all="ignore"):
        least = (w - dw) * (1 - np.sign(w - dw) * np.where(spread, 4 * UNIT, 0))
        for end, wider in ((u - du, 4 * UNIT), (u + du, -4 * UNIT)):
            c = end * (1 + np.where(spread, wider, 0))
            ratio = (v - dv) / c
            power = ratio - 1
            error = (8 * UNIT * (np.abs(ratio) + 1 + (np.abs(v) + dv) / np.abs(c))).astype(float)
            _, high = exponential(Enclosed(power, error))
            good &= high * -c * (1 + 4 * UNIT) + LONG(TINY) <= least
    good |= (~spread) & (z[:, 0] == 0) & (z[:, 1] >= 0) & (z[:, 2] >= 0)
    return np.asarray(good)


def _into_dual_exponential(u: float, v: float, w: float) -> tuple[float, float, float]:
    """The cheapest of three ways into the dual exponential cone."""
    edge = (0.0, max(v, 0.0), max(w, 0.0))
    if u >= 0:
        return edge
    choices = [edge]
    needed = exp_above(Fraction(v) / Fraction(u) - 1, Fraction(-u))
    if needed <= w:
        return u, v, w
    if np.isfinite(needed):
        choices.append((u, v, needed))
    if w > 0:
        raised = u * (1.0 + float(np.log(w / -u)))
        raised += 1e-14 * (abs(raised) + abs(u))
        if raised >= v and exp_above(Fraction(raised) / Fraction(u) - 1, Fraction(-u)) <= w:
            choices.append((u, raised, w))
    return min(choices, key=lambda c: abs(c[0] - u) + abs(c[1] - v) + abs(c[2] - w))


def room(program: ConeProgram, z: Array, eta: Array) -> bool:
    """Whether every point within ``eta`` (entry by entry) of ``z`` is in the dual cone, certainly."""
    low, high = program.zero, program.zero + program.nonneg
    if not np.all(z[low:high] >= eta[low:high]):
        return False
    if program.soc:
        tails, cone = program.tails
        far = np.abs(z[tails]) + eta[tails]
        far = np.where(eta[tails] > 0, np.nextafter(far, np.inf), far)
        need = norms(far, cone, len(program.soc)).above()
        enough = np.nextafter(need + np.nextafter(eta[program.heads], 1), np.inf)
        for k in np.flatnonzero(z[program.heads] < enough).tolist():
            rows = slice(int(program.heads[k]), int(program.heads[k]) + program.soc[k])
            exact_far = Dyadic.of(np.abs(z[rows][1:])) + Dyadic.of(eta[rows][1:])
            head = Fraction(float(z[rows.start])) - Fraction(float(eta[rows.start]))
            if head < 0 or head * head < (exact_far * exact_far).total():
                return False
    threes = program.exponential[:, None] + np.arange(3)
    sure = _in_dual_exponential(z[threes], eta[threes])
    if not all(_room_exponential(z[threes[k]], eta[threes[k]]) for k in np.flatnonzero(~sure)):
        return False
    return all(block.room(z[rows], eta[rows]) for block, rows in program.more)


def _room_exponential(z: Array, eta: Array) -> bool:
    """The same for one dual exponential cone: -u e^(v/u - 1) is convex, so that corners decide."""
    (u, v, w), (du, dv, dw) = (map(Fraction, a.tolist()) for a in (z, eta))
    if not (du or dv or dw):
        return _into_dual_exponential(*z.tolist()) == tuple(z.tolist())
    if u + du >= 0:
        return False
    corners = [exp_above((v - dv) / c - 1, -c) for c in (u - du, u + du)]
    return max(corners) <= w - dw


def inside(program: ConeProgram, s: Dyadic, reach: Dyadic) -> bool:
    """Whether every point within ``reach`` of ``s`` is in the cones, certainly (zero rows apart)."""
    low, high = program.zero, program.zero + program.nonneg
    if any(v < 0 for v in (s[low:high] - reach[low:high]).numbers.tolist()):
        return False
    for rows in program.second_order:
        if not _cone_inside(s[rows], reach[rows]):
            return False
    for start in program.exponential.tolist():
        if not _exponential_inside(s[start : start + 3], reach[start : start + 3]):
            return False
    return all(block.violation(s[r], reach[r].above()) == 0 for block, r in program.more)


def _cone_inside(s: Dyadic, reach: Dyadic) -> bool:
    far = Dyadic(np.abs(s.numbers), s.bits) + reach
    head = s.fraction(0) - reach.fraction(0)
    return head >= 0 and head * head >= (far[1:] * far[1:]).total()


def _exponential_inside(s: Dyadic, reach: Dyadic) -> bool:
    (x, dx), (y, dy), (z, dz) = ((s.fraction(i), reach.fraction(i)) for i in range(3))
    # y e^(x/y) grows with x and is convex in y, so that the ends of y decide
    return y - dy >= 0 and all(in_exponential(x + dx, e, z - dz) for e in {y - dy, y + dy})


def outside(program: ConeProgram, x: Array, eta: Array, met: Array | None = None) -> Array:
    """How far each row of b - Ax, or the head of each cone, is outside, wherever in x +- eta it is.

    0 where that box is inside for certain. In floats with bounds on their rounding; exactly where
    these decide nothing.

    Parameters
    ----------
    program : ConeProgram
    x, eta : (n,) arrays
    met : (m,) array of bool, optional
        Rows that hold at the point that is meant, and need not be looked at.
    """
    A, m = program.rows, len(program.b)
    wide = reach(A, eta) if np.any(eta) else np.zeros(m)
    s = exact(program.b) + -times(A, x)
    low, high = s.below() - wide, s.above() + wide
    low, high = (
        np.where(wide > 0, np.nextafter(e, t), e) for e, t in ((low, -np.inf), (high, np.inf))
    )
    z, p = program.zero, program.zero + program.nonneg
    far = np.zeros(m)
    far[:z] = np.maximum(np.abs(low[:z]), np.abs(high[:z]))
    far[z:p] = np.maximum(-low[z:p], 0.0)
    unsure = np.zeros(m, dtype=bool)
    unsure[:z] = (low[:z] <= 0) & (high[:z] >= 0) & (wide[:z] == 0)
    unsure[z:p] = (low[z:p] < 0) & (high[z:p] >= 0)
    size = np.maximum(np.abs(low), np.abs(high))
    if program.soc:
        tails, cone = program.tails
        need = norms(size[tails], cone, len(program.soc)).above()
        lack = np.maximum(np.nextafter(need - low[program.heads], np.inf), 0.0)
        lack[low[program.heads] >= need] = 0.0
        far[program.heads] = lack
        unsure[program.heads] = (lack > 0) & (lack <= 1e-9 * need + wide[program.heads] + 1e-280)
    if program.exp:
        threes = program.exponential[:, None] + np.arange(3)
        lack = _lack_exponential(low[threes], high[threes])
        far[threes[:, 0]] = lack
        rounded = 1e3 * UNIT * size[threes].sum(axis=1) + 1e-280
        unsure[threes[:, 0]] = (lack > 0) & (lack <= rounded)
        unsure[threes[:, 0]] |= (low[threes[:, 1]] <= 0) & (high[threes[:, 1]] >= 0) & (lack > 0)
    unsure[[rows.start for _, rows in program.more]] = True
    if met is not None:
        far[met], unsure[met] = 0.0, False
    _decide(program, x, wide, far, unsure)
    return far


def _lack_exponential(low: Array, high: Array) -> Array:
    """The same for boxes of exponential cones; inf where no way in was found."""
    x, y = high[:, 0].astype(LONG), (low[:, 1].astype(LONG), high[:, 1].astype(LONG))
    z = low[:, 2].astype(LONG)
    need = np.zeros(len(x), dtype=LONG)
    with np.errstate(all="ignore"):
        for end in y:
            ratio = x / end
            error = (4 * UNIT * np.abs(ratio)).astype(float)
            grown = exponential(Enclosed(ratio, error))[1] * end * (1 + 4 * UNIT) + LONG(TINY)
            need = np.maximum(need, np.where(end > 0, grown, np.inf))
        raised = (need - z) * (1 + 4 * UNIT)
        corner = np.maximum(x, 0) + np.maximum(np.abs(y[0]), np.abs(y[1])) + np.maximum(-z, 0)
        shift = np.maximum(x - y[0] * np.log(z / y[0]) * (1 - 2.0**-45), 0) * (1 + 2.0**-40)
        shift += np.abs(x) * 2.0**-45
        lower = x - shift
        fits = (z > 0) & (y[0] > 0) & np.isfinite(shift)
        for end in y:
            ratio = lower / end
            error = (8 * UNIT * np.abs(ratio)).astype(float)
            fits &= exponential(Enclosed(ratio, error))[1] * end * (1 + 4 * UNIT) <= z
        way = np.minimum(corner * (1 + 8 * UNIT), np.where(fits, shift, np.inf))
        lack = np.minimum(way, np.where(np.isfinite(raised), raised, np.inf))
    lack = np.where((y[0] > 0) & (need <= z), 0, lack)
    far = lack.astype(float)
    return np.where(lack > 0, np.nextafter(far, np.inf), 0.0)


def _decide(program: ConeProgram, x: Array, wide: Array, far: Array, unsure: Array) -> None:
    """Look exactly at what floats leave open, and at the other cones."""
    low, high = program.zero, program.zero + program.nonneg
    chosen = [np.flatnonzero(unsure[:low]), low + np.flatnonzero(unsure[low:high])]
    soc = [r for r in program.second_order if unsure[r.start]] if program.soc else []
    exp = [slice(s, s + 3) for s in program.exponential.tolist() if unsure[s]]
    more = [(block, rows) for block, rows in program.more if unsure[rows.start]]
    blocks = [*soc, *exp, *(rows for _, rows in more)]
    rows = np.concatenate([*chosen, *(np.arange(r.start, r.stop) for r in blocks)]).astype(int)
    if len(rows) == 0:
        return
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(wide[rows]))):
        far[rows] = np.inf
        return
    s = Dyadic.of(program.b[rows]) - product(program.rows[rows], Dyadic.of(x))
    part = ConeProgram(
        sp.csc_array((0, 0)), np.zeros(0), sp.csc_array((len(rows), 0)), np.zeros(len(rows)),
        zero=len(chosen[0]), nonneg=len(chosen[1]), soc=tuple(r.stop - r.start for r in soc),
        exp=len(exp), other=tuple(block for block, _ in more),
    )  # fmt: skip
    moved = wide[rows]
    found = far[rows]
    plain = part.zero + part.nonneg
    lack = (-s[:plain]).above()
    lack[: part.zero] = np.maximum(lack, s[:plain].above())[: part.zero]
    lack += moved[:plain]
    lack = np.where(moved[:plain] > 0, np.where(lack > 0, np.nextafter(lack, np.inf), lack), lack)
    found[:plain] = np.maximum(lack, 0.0)
    exact_reach = Dyadic.of(moved)
    for rows_of in [slice(h, h + k) for h, k in zip(part.heads.tolist(), part.soc, strict=True)]:
        if _cone_inside(s[rows_of], exact_reach[rows_of]):
            found[rows_of.start] = 0.0
    for start in part.exponential.tolist():
        box = slice(start, start + 3)
        if _exponential_inside(s[box], exact_reach[box]):
            found[start] = 0.0
    for block, box in part.more:
        found[box] = 0.0
        found[box.start] = block.violation(s[box], moved[box])
    far[rows] = found
