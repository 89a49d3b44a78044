"""Exact projection on the bag: walk along the knots of the sum."""

from fractions import Fraction

from refsolve.exact._rational import ZERO, Vector, clip


def project(a: Vector, r: Fraction, cap: Fraction, rho: Fraction) -> list[Fraction]:
    """Smallest t >= 0 with s(t) <= r and rho s(t) <= t."""

    def total(t: Fraction) -> Fraction:
        return sum((clip(v - t, ZERO, cap) for v in a), ZERO)

    def excess(t: Fraction) -> Fraction:
        return max(total(t) - r, rho * total(t) - t)

    knots = sorted({ZERO, *(k for v in a for k in (v, v - cap) if k > 0)})
    if excess(ZERO) <= 0:
        return [clip(v, ZERO, cap) for v in a]
    high = next(k for k in knots if excess(k) <= 0)
    low = max(k for k in knots if k < high)
    roots = []
    for g in (lambda t: total(t) - r, lambda t: rho * total(t) - t):
        left, right = g(low), g(high)
        if left > 0:
            roots.append(low + (high - low) * left / (left - right))
    t = max(roots)
    return [clip(v - t, ZERO, cap) for v in a]
