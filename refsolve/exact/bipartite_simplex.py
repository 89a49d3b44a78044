"""Exact projection on the bipartite simplex: one monotone root, or two simplexes of sum r.

sum (a_N - t)_+ decreases and sum (a_P + t)_+ increases in t, both piecewise linear with knots at
a_N and -a_P; they meet between -max a_P and max a_N.
"""

from collections.abc import Sequence
from fractions import Fraction

from refsolve.exact import simplex
from refsolve.exact._rational import ZERO, Vector, neighbours
from refsolve.exact._thresholds import Named, clipped, ends


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


def internals(a: Vector, x: Vector, y: Sequence[bool], r: Fraction) -> Named:
    """Thresholds t + q on N and q - t on P, index sets and the multiplier 2q of the bound on the sum."""
    s = sum(x, ZERO) / 2
    low, high = ({i for i, side in enumerate(y) if bool(side) is up} for up in (False, True))
    found = {"s": s, **ends(x, [ZERO] * len(x), [float("inf")] * len(x))}
    del found["U"]
    if not low or not high:
        q, t = ZERO, max(a[i] for i in low) if low else -max(a[i] for i in high)
    else:
        first, last = (clipped([a[i] for i in s], [x[i] for i in s])["t"] for s in (low, high))
        q, t = (first + last) / 2, (first - last) / 2
        if q < 0:  # only at x = 0, where t has room
            q, t = ZERO, first
    return {**found, "t": t, "q": q, "lambda": 2 * q}
