"""Exact projection on the capped simplex: x = clip(a - t, 0, cap) with t between two of its knots."""

from fractions import Fraction

from refsolve.exact._rational import ZERO, Vector, clip, neighbours
from refsolve.exact._thresholds import Named, clipped


def project(a: Vector, r: Fraction, cap: Fraction) -> list[Fraction]:
    """Minimiser of 1/2||x - a||^2; the sum falls from d cap to 0 over the knots a_i - cap and a_i."""

    def total(t: Fraction) -> Fraction:
        return sum((clip(v - t, ZERO, cap) for v in a), ZERO)

    knots = sorted({*a, *(v - cap for v in a)})
    left, right = neighbours(knots, lambda t: total(t) >= r)
    s_left, s_right = total(left), total(right)
    # between neighbouring knots the sum is linear; a flat piece is at 0, or at r
    share = (s_left - r) / (s_left - s_right) if s_left > s_right else ZERO
    t = left + share * (right - left)
    return [clip(v - t, ZERO, cap) for v in a]


def internals(a: Vector, x: Vector, r: Fraction, cap: Fraction) -> Named:
    """Threshold, index sets and the multiplier of the sum, of any sign, which is the threshold."""
    found = clipped(a, x, cap)
    return {"s": r, "u": cap, **found, "lambda": found["t"]}
