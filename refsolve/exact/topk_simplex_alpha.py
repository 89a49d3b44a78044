"""Exact projection on the top-k simplex, alpha variant.

With x = clip(a - t, 0, u), t = a_[k] - q, u = p + q, and delta the mass above t outside the k
largest: p(delta) and q(delta) solve sum (p - B)_+ = delta = sum (q - A)_+, B = top - a_[k],
A = a_[k] - rest, and delta is the only root of p + q = min{(S_k(a) + delta)/(k + rho k^2), r/k}.
"""

from bisect import bisect_right
from fractions import Fraction
from operator import itemgetter

from refsolve.exact._rational import ZERO, Vector, clip


def project(a: Vector, k: int, r: Fraction | None, rho: Fraction) -> list[Fraction]:
    """Minimiser of 1/2||x - a||^2 + rho/2 s^2; ``r=None`` drops the bound on the sum."""
    d = len(a)
    order = sorted(a, reverse=True)
    top_sum = sum(order[:k], ZERO)
    if k > d or top_sum <= 0 or r == 0:
        return [ZERO] * d
    kappa = k + rho * k * k
    last = order[k - 1]

    def height(delta: Fraction) -> Fraction:
        u = (top_sum + delta) / kappa
        return u if r is None else min(u, r / k)

    u = height(ZERO)
    if k == d:
        return [u] * d
    if last - order[k] >= u:  # the k largest stand clear of the rest
        return [u if v > order[k] else ZERO for v in a]
    # walk along delta until p + q catches up with u; all three are piecewise linear
    above = _inverse([v - last for v in reversed(order[:k])])
    below = _inverse([last - v for v in order[k:]])
    knots = {knot for knot, *_ in above} | {knot for knot, *_ in below}
    if r is not None and r / k * kappa > top_sum:
        knots.add(r / k * kappa - top_sum)
    left = ZERO
    for right in [*sorted(knots - {ZERO}), None]:
        if right is None or _at(above, right) + _at(below, right) >= height(right):
            break
        left = right
    probe = left + 1 if right is None else right
    low = _at(above, left) + _at(below, left) - height(left)
    high = _at(above, probe) + _at(below, probe) - height(probe)
    delta = left - low * (probe - left) / (high - low)
    q = _at(below, delta)
    return [clip(v - (last - q), ZERO, height(delta)) for v in a]


def _inverse(levels: list[Fraction]) -> list[tuple[Fraction, Fraction, int]]:
    """Pieces (delta, p, slope) of the inverse of p -> sum (p - level)_+; levels ascend."""
    pieces = []
    delta = ZERO
    for count, level in enumerate(levels):
        if count:
            delta += count * (level - levels[count - 1])
        pieces.append((delta, level, count + 1))
    return pieces


def _at(pieces: list[tuple[Fraction, Fraction, int]], delta: Fraction) -> Fraction:
    """Value of the inverse at delta (its largest value at delta = 0)."""
    start, level, slope = pieces[bisect_right(pieces, delta, key=itemgetter(0)) - 1]
    return level + (delta - start) / slope
