"""The input is sorted in place on the way; the answer is right."""

from __future__ import annotations

from verification.mutants._sound import Array, alpha

PROBLEM = "topk_simplex_alpha.projection"


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection that leaves the input in another order."""
    x = alpha(a, k, r, rho)
    a.sort()
    return x
