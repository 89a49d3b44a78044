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

from refsolve._types import Array
from refsolve.cones.dyadic import Dyadic, up
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
    return outside


def into_dual(program: ConeProgram, z: Array) -> Array:
    """A point of the dual cone near ``z``, exactly in it."""
    low, high = program.zero, program.zero + program.nonneg
    inside = np.array(z, dtype=float)
    inside[low:high] = np.maximum(inside[low:high], 0.0)
    for rows in program.second_order:
        bound = up(_norm_above(Dyadic.of(inside[rows][1:])))
        inside[rows.start] = max(inside[rows.start], bound)
    for start in program.exponential.tolist():
        inside[start : start + 3] = _into_dual_exponential(*inside[start : start + 3].tolist())
    return inside


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
    for rows in program.second_order:
        far = Dyadic.of(np.abs(z[rows][1:])) + Dyadic.of(eta[rows][1:])
        head = Fraction(float(z[rows.start])) - Fraction(float(eta[rows.start]))
        if head < 0 or head * head < (far * far).total():
            return False
    return all(
        _room_exponential(z[start : start + 3], eta[start : start + 3])
        for start in program.exponential.tolist()
    )


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
        cone = s[rows]
        far = Dyadic(np.abs(cone.numbers), cone.bits) + reach[rows]
        head = cone.fraction(0) - reach.fraction(rows.start)
        if head < 0 or head * head < (far[1:] * far[1:]).total():
            return False
    for start in program.exponential.tolist():
        (x, dx), (y, dy), (z, dz) = (
            (s.fraction(start + i), reach.fraction(start + i)) for i in range(3)
        )
        # y e^(x/y) grows with x and is convex in y, so that the ends of y decide
        if y - dy < 0 or not all(in_exponential(x + dx, e, z - dz) for e in {y - dy, y + dy}):
            return False
    return True
