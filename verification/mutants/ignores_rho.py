"""The bias rho <1,x>^2 is forgotten."""

from __future__ import annotations

from verification.mutants._sound import Array, alpha

PROBLEM = "topk_simplex_alpha.projection"


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Unbiased projection."""
    return alpha(a, k, r, 0.0)
