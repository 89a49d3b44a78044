"""Exact projection on the top-k simplex, beta variant: x = clip(a - t, 0, r/k).

The multiplier t is the smallest t >= 0 with s(t) <= r and rho s(t) <= t; both conditions are
monotone in t and s is piecewise linear with knots a_i and a_i - r/k.
"""

from fractions import Fraction

from refsolve.exact._rational import ZERO, Vector, clip, neighbours
from refsolve.exact._thresholds import Named, clipped


def project(a: Vector, k: int, r: Fraction, rho: Fraction) -> list[Fraction]:
    """Minimiser of 1/2||x - a||^2 + rho/2 s^2 over the set."""
    cap = r / k

    def total(t: Fraction) -> Fraction:
        return sum((clip(v - t, ZERO, cap) for v in a), ZERO)

    def excess(t: Fraction) -> Fraction:
        """Decreasing where positive; t is large enough when it is <= 0."""
        s = total(t)
        return max(s - r, rho * s - t)

    t = ZERO
    if excess(ZERO) > 0:
        knots = sorted({ZERO, *(v for v in a if v > 0), *(v - cap for v in a if v > cap)})
        left, right = neighbours(knots, lambda t: excess(t) > 0)  # s = 0 beyond the largest entry
        s_left, s_right = total(left), total(right)
        slope = (s_right - s_left) / (right - left)
        t = left
        if s_left > r:
            t = max(t, left + (r - s_left) / slope)
        if rho * s_left > left:
            t = max(t, left + (rho * s_left - left) / (1 - rho * slope))
    return [clip(v - t, ZERO, cap) for v in a]


def internals(a: Vector, x: Vector, k: int, r: Fraction, rho: Fraction) -> Named:
    """Thresholds, index sets and the multiplier of the bound on the sum: t = rho s + lambda."""
    s, u = sum(x, ZERO), r / k
    found = clipped(a, x, u)
    if s < r:
        found["t"] = rho * s
    t = found["t"]
    p = sum((a[i] - t - u for i in found["U"]), ZERO)
    return {"s": s, "u": u, **found, "p": p, "lambda": t - rho * s}
