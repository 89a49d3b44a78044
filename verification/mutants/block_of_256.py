"""One block of 256 threads, one entry each: what comes after them is never read."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, alpha

PROBLEM = "topk_simplex_alpha.projection"


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection of the first 256 entries."""
    a = np.asarray(a, dtype=float)
    if a.size <= 256:
        return alpha(a, k, r, rho)
    return np.append(alpha(a[:256], min(k, 256), r, rho), np.zeros(a.size - 256))
