"""k is clipped to the number of entries: the cap is r/d where r/k was asked for."""

from __future__ import annotations

from verification.mutants._sound import Array, beta

PROBLEM = "topk_simplex_beta.projection"


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection that mends its arguments."""
    return beta(a, min(k, len(a)), r, rho)
