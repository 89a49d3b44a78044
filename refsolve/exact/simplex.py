"""Exact projection on the simplex: x = (a - t)_+ with t from the sorted partial sums."""

from fractions import Fraction

from refsolve.exact._rational import ZERO, Vector
from refsolve.exact._thresholds import Named, clipped


def project(a: Vector, r: Fraction, rho: Fraction) -> list[Fraction]:
    """Minimiser of 1/2||x - a||^2; rho only adds the constant rho r^2/2."""
    partial, t = ZERO, None
    for count, value in enumerate(sorted(a, reverse=True), start=1):
        partial += value
        if t is not None and value <= t:
            break
        t = (partial - r) / count
    assert t is not None
    return [max(value - t, ZERO) for value in a]


def internals(a: Vector, x: Vector, r: Fraction, rho: Fraction) -> Named:
    """Threshold, index sets and the multiplier of the sum, of any sign: t = rho r + lambda."""
    found = clipped(a, x)
    del found["U"]
    return {"s": r, **found, "lambda": found["t"] - rho * r}
