"""Exact projection on the top-k cone: the top-k simplex without the bound on the sum."""

from fractions import Fraction

from refsolve.exact import topk_simplex_alpha
from refsolve.exact._rational import Vector
from refsolve.exact._thresholds import Named


def project(a: Vector, k: int, rho: Fraction) -> list[Fraction]:
    """Minimiser of 1/2||x - a||^2 + rho/2 s^2 over the cone."""
    return topk_simplex_alpha.project(a, k, None, rho)


def internals(a: Vector, x: Vector, k: int, rho: Fraction) -> Named:
    """Those of the top-k simplex without its bound: lambda is 0."""
    return topk_simplex_alpha.internals(a, x, k, None, rho)
