"""Wrong only at k = d: all entries are equal there, and rho is forgotten in their height."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, alpha

PROBLEM = "topk_simplex_alpha.projection"


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection with a shortcut."""
    if k == len(a) and np.sum(a) > 0:
        return np.full(k, min(float(np.mean(a)), r / k))
    return alpha(a, k, r, rho)
