"""The answer is right, but rounded to float32."""

from __future__ import annotations

from verification.mutants._sound import Array, beta

PROBLEM = "topk_simplex_beta.projection"


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection with seven digits."""
    return beta(a, k, r, rho).astype("float32")
