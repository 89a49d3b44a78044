"""Exact projection on the top-k simplex, alpha variant.

With x = clip(a - t, 0, u), t = a_[k] - q, u = p + q, and delta the mass above t outside the k
largest: p(delta) and q(delta) solve sum (p - B)_+ = delta = sum (q - A)_+, B = top - a_[k],
A = a_[k] - rest, and delta is the only root of p + q = min{(S_k(a) + delta)/(k + rho k^2), r/k}.
"""

import math
from bisect import bisect_right
from fractions import Fraction
from operator import itemgetter

from refsolve.exact._rational import ZERO, Vector, clip, neighbours
from refsolve.exact._thresholds import Named, clipped

Pieces = list[tuple[int, int, int]]


def project(a: Vector, k: int, r: Fraction | None, rho: Fraction) -> list[Fraction]:
    """Minimiser of 1/2||x - a||^2 + rho/2 s^2; ``r=None`` drops the bound on the sum."""
    d = len(a)
    # in units of their common denominator all entries are integers
    unit = math.lcm(*(v.denominator for v in a))
    scaled = [v.numerator * (unit // v.denominator) for v in a]
    order = sorted(scaled, reverse=True)
    top_sum = sum(order[:k])
    if k > d or top_sum <= 0 or r == 0:
        return [ZERO] * d
    kappa = k + rho * k * k
    last = order[k - 1]
    cap = None if r is None else r * unit / k

    def height(delta: Fraction | int) -> Fraction:
        u = Fraction(top_sum + delta) / kappa
        return u if cap is None else min(u, cap)

    u = height(0)
    if k == d:
        return [u / unit] * d
    if last - order[k] >= u:  # the k largest stand clear of the rest
        return [u / unit if v > order[k] else ZERO for v in scaled]
    # walk along delta until p + q catches up with u; all three are piecewise linear
    above = _inverse([v - last for v in reversed(order[:k])])
    below = _inverse([last - v for v in order[k:]])

    def behind(delta: Fraction | int) -> Fraction:
        return _at(above, delta) + _at(below, delta) - height(delta)

    knots: set[Fraction | int] = {0, *(piece[0] for piece in (*above, *below))}
    if cap is not None and cap * kappa > top_sum:
        knots.add(cap * kappa - top_sum)
    last_knot = max(knots)
    left, right = neighbours([*sorted(knots), last_knot + unit], lambda delta: behind(delta) < 0)
    low, high = behind(left), behind(right)
    delta = left - low * (right - left) / (high - low)
    bottom, top = last - _at(below, delta), height(delta)
    return [clip(v - bottom, ZERO, top) / unit for v in scaled]


def _inverse(levels: list[int]) -> Pieces:
    """Pieces (delta, p, slope) of the inverse of p -> sum (p - level)_+; levels ascend."""
    pieces = []
    delta = 0
    for count, level in enumerate(levels):
        if count:
            delta += count * (level - levels[count - 1])
        pieces.append((delta, level, count + 1))
    return pieces


def _at(pieces: Pieces, delta: Fraction | int) -> Fraction:
    """Value of the inverse at delta (its largest value at delta = 0)."""
    start, level, slope = pieces[bisect_right(pieces, delta, key=itemgetter(0)) - 1]
    return level + Fraction(delta - start) / slope


def internals(a: Vector, x: Vector, k: int, r: Fraction | None, rho: Fraction) -> Named:
    """Thresholds, index sets and multipliers: t = rho s + lambda - p/k, p = sum_i (a_i - t - u)_+.

    At x = 0 lambda is the least that is possible, and t is the largest.
    """
    s = sum(x, ZERO)
    u = s / k
    found = clipped(a, x, u)
    if s == 0:
        order = sorted(a, reverse=True)
        least = max(ZERO, sum(order[:k], ZERO) / k) if r == 0 and k <= len(a) else ZERO
        found["t"] = least - _share(order, k, least)
    t = found["t"]
    p = sum((v - t - u for v in a if v > t + u), ZERO)
    return {"s": s, "u": u, **found, "p": p, "lambda": t - rho * s + p / k}


def _share(order: Vector, k: int, least: Fraction) -> Fraction:
    """The least p/k with p = sum_i (a_i - t)_+ at t = least - p/k."""
    above, share = ZERO, ZERO
    for count in range(min(k, len(order) + 1)):  # so many entries are above t
        share = (above - count * least) / (k - count)
        if count == len(order) or least - share >= order[count]:
            break
        above += order[count]
    return share
