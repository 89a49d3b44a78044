"""Exact projection on the knapsack: x = clip(a - t b, low, high) with t between two of its knots."""

from fractions import Fraction
from typing import Any

from refsolve.exact._rational import ZERO, Vector, neighbours
from refsolve.exact._thresholds import Named, ends, threshold


def project(a: Vector, b: Any, low: Any, high: Any, capacity: Fraction) -> list[Fraction]:
    """Minimiser of 1/2||x - a||^2 over the set, which is not empty; bounds may be infinite floats."""

    def point(t: Fraction) -> list[Fraction]:
        rows = zip(a, b, low, high, strict=True)
        return [min(max(v - t * weight, least), most) for v, weight, least, most in rows]

    def total(t: Fraction) -> Fraction:
        return sum((weight * v for weight, v in zip(b, point(t), strict=True)), ZERO)

    knots = {
        (v - end) / weight
        for v, weight, *ends in zip(a, b, low, high, strict=True)
        for end in ends
        if weight != 0 and abs(end) != float("inf")
    }
    inner = sorted(knots | {ZERO})
    # beyond the last knots <b,x> is linear for ever
    left, right = neighbours([inner[0] - 1, *inner, inner[-1] + 1], lambda t: total(t) >= capacity)
    falls = total(left) - total(right)
    share = (total(left) - capacity) / falls if falls else ZERO
    return point(left + share * (right - left))


def internals(a: Vector, x: Vector, b: Vector, low: Any, high: Any, capacity: Fraction) -> Named:
    """Threshold and multiplier of <b,x> = capacity, of any sign, and index sets."""
    t = threshold(a, x, low, high, b)
    return {"s": sum(x, ZERO), "t": t, **ends(x, low, high), "lambda": t}
