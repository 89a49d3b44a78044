"""Exact projection on the polymatroid of the cardinality: x = clip(a - t, 0, a - v), t = rho <1,x>.

v is the falling regression on a - beta in the order of a, whatever t is; s(t) is piecewise linear with
knots a_i and v_i.
"""

from fractions import Fraction
from itertools import pairwise

from refsolve.exact._rational import ZERO, Vector, clip, neighbours
from refsolve.exact._thresholds import Named
from refsolve.sets.cardinality_polymatroid import pooled


def project(a: Vector, beta: Vector, rho: Fraction) -> list[Fraction]:
    """Minimiser of 1/2||x - a||^2 + rho/2 <1,x>^2 over the set."""
    order = sorted(range(len(a)), key=lambda i: -a[i])
    falls = pooled([a[i] - weight for i, weight in zip(order, beta, strict=True)])
    caps = list(a)
    for i, fall in zip(order, falls, strict=True):
        caps[i] -= fall

    def point(t: Fraction) -> list[Fraction]:
        return [clip(v - t, ZERO, cap) for v, cap in zip(a, caps, strict=True)]

    t = ZERO
    if rho * sum(point(ZERO), ZERO) > 0:
        knots = sorted({ZERO, *(v for v in (*a, *falls) if v > 0)})
        left, right = neighbours(knots, lambda t: rho * sum(point(t), ZERO) > t)
        s_left, s_right = sum(point(left), ZERO), sum(point(right), ZERO)
        t = left + (rho * s_left - left) / (1 - rho * (s_right - s_left) / (right - left))
    return point(t)


def internals(a: Vector, x: Vector, beta: Vector, rho: Fraction) -> Named:
    """Threshold of every entry, x = (a - rho s)_+ - t, and the multiplier of the bound on the j largest."""
    s = sum(x, ZERO)
    t = [max(v - rho * s, ZERO) - found for v, found in zip(a, x, strict=True)]
    falling = [*sorted(t, reverse=True), ZERO]
    return {
        "s": s,
        "t": t,
        "M": tuple(i for i, v in enumerate(x) if v > 0),
        "L": tuple(i for i, v in enumerate(x) if v == 0),
        "lambda": [high - low for high, low in pairwise(falling)],
    }
