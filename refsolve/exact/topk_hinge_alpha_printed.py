"""Exact projection onto the dual set of the top-k hinge as printed: x_i <= min(r/k, s/(k-1)), s <= r."""

from fractions import Fraction

from refsolve.exact import topk_simplex_alpha, topk_simplex_beta
from refsolve.exact._rational import ZERO, Vector


def project(a: Vector, k: int, r: Fraction = Fraction(1), rho: Fraction = ZERO) -> list[Fraction]:
    """Minimiser of 1/2||x - a||^2 + rho/2 s^2 over the set.

    Where s >= (k-1) r/k only x_i <= r/k matters, below it only x_i <= s/(k-1).
    """
    x = topk_simplex_beta.project(a, k, r, rho)
    low = r * (k - 1) / k
    return x if sum(x) >= low else topk_simplex_alpha.project(a, k - 1, low, rho)
