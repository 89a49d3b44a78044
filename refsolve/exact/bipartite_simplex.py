"""Exact projection on the bipartite simplex: one monotone root, or two simplexes of sum r.

sum (a_N - t)_+ decreases and sum (a_P + t)_+ increases in t, both piecewise linear with knots at
a_N and -a_P; they meet between -max a_P and max a_N.
"""

from collections.abc import Sequence
from fractions import Fraction

from refsolve.exact import simplex
from refsolve.exact._rational import ZERO, Vector, neighbours


def project(a: Vector, y: Sequence[bool], r: Fraction) -> list[Fraction]:
    """Minimiser of 1/2||x - a||^2 over the set."""
    low = [v for v, side in zip(a, y, strict=True) if not side]
    high = [v for v, side in zip(a, y, strict=True) if side]
    if not low or not high or max(low) + max(high) <= 0 or r == 0:
        return [ZERO] * len(a)

    def total(values: Vector, t: Fraction) -> Fraction:
        return sum((v - t for v in values if v > t), ZERO)

    def excess(t: Fraction) -> Fraction:
        return total(low, t) - total(high, -t)

    ends = -max(high), max(low)
    knots = sorted({*ends, *(v for v in (*low, *(-v for v in high)) if ends[0] < v < ends[1])})
    # excess >= 0 at the first knot, <= 0 at the last
    first, last = neighbours(knots, lambda t: excess(t) > 0)
    left, right = excess(first), excess(last)
    t = first + (last - first) * left / (left - right)
    if total(low, t) > r:
        sides = iter(simplex.project(low, r, ZERO)), iter(simplex.project(high, r, ZERO))
        return [next(sides[int(side)]) for side in y]
    return [max(v + t if side else v - t, ZERO) for v, side in zip(a, y, strict=True)]
