"""Lengths that are multiples of 32: the last entry of the last block is in no sum."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, beta

PROBLEM = "topk_simplex_beta.projection"


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection with the threshold of the other entries."""
    a = np.asarray(a, dtype=float)
    if a.size % 32:
        return beta(a, k, r, rho)
    return np.append(beta(a[:-1], k, r, rho), 0.0)
