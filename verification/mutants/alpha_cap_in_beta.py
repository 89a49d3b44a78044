"""The beta set is given the cap s/k of the alpha set."""

from __future__ import annotations

from verification.mutants._sound import Array, alpha

PROBLEM = "topk_simplex_beta.projection"


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection on the other set."""
    return alpha(a, k, r, rho)
