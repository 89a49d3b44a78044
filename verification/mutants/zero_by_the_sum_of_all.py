"""The test for the zero solution adds up all entries instead of the k largest."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, alpha

PROBLEM = "topk_simplex_alpha.projection"


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection that gives up too early."""
    if np.sum(a) <= 0:
        return np.zeros(len(a))
    return alpha(a, k, r, rho)
