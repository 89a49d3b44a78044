"""Exact projection on the l1 ball: signs, and the projection of the absolute values on the simplex."""

from fractions import Fraction

from refsolve.exact import simplex
from refsolve.exact._rational import ZERO, Vector
from refsolve.exact._thresholds import Named, clipped


def project(a: Vector, r: Fraction) -> list[Fraction]:
    """Minimiser of 1/2||x - a||^2 over the ball."""
    sizes = [abs(v) for v in a]
    if sum(sizes, ZERO) <= r:
        return list(a)
    return [-x if v < 0 else x for v, x in zip(a, simplex.project(sizes, r, ZERO), strict=True)]


def internals(a: Vector, x: Vector, r: Fraction) -> Named:
    """Threshold of |a|, index sets and the multiplier of the sum of the |x_i|, which is the threshold."""
    sizes = [abs(v) for v in x]
    found = clipped([abs(v) for v in a], sizes)
    del found["U"]
    s = sum(sizes, ZERO)
    t = found["t"] if s == r else ZERO
    return {"s": s, **found, "t": t, "lambda": t}
