"""Exact projection on the box: entries clipped to [0, r]."""

from fractions import Fraction

from refsolve.exact._rational import ZERO, Vector, clip


def project(a: Vector, r: Fraction) -> list[Fraction]:
    """Minimiser of 1/2||x - a||^2 over the box."""
    return [clip(v, ZERO, r) for v in a]
