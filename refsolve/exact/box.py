"""Exact projection on the box: entries clipped to [0, r]."""

from fractions import Fraction

from refsolve.exact._rational import ZERO, Vector, clip
from refsolve.exact._thresholds import Named, ends


def project(a: Vector, r: Fraction) -> list[Fraction]:
    """Minimiser of 1/2||x - a||^2 over the box."""
    return [clip(v, ZERO, r) for v in a]


def internals(a: Vector, x: Vector, r: Fraction) -> Named:
    """Index sets."""
    return {"s": sum(x, ZERO), **ends(x, [ZERO] * len(x), [r] * len(x))}
