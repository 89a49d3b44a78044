"""A feasible input is its own projection, and comes back as the same array."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, beta

PROBLEM = "topk_simplex_beta.projection"


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection without a copy."""
    if rho == 0 and np.min(a) >= 0 and np.max(a) <= r / k and np.sum(a) <= r:
        return a
    return beta(a, k, r, rho)
