"""The cap is s/(k-1) instead of s/k: k counted from 0."""

from __future__ import annotations

from verification.mutants._sound import Array, alpha

PROBLEM = "topk_simplex_alpha.projection"


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection with another k."""
    return alpha(a, max(k - 1, 1), r, rho)
