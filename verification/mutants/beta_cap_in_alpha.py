"""The alpha set is given the cap r/k of the beta set."""

from __future__ import annotations

from verification.mutants._sound import Array, beta

PROBLEM = "topk_simplex_alpha.projection"


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection on the other set."""
    return beta(a, k, r, rho)
