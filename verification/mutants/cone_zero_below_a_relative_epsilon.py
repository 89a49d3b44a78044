"""Whatever is below 1e-10 of the largest entry counts as zero, at every scale."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, descending, unbounded

PROBLEM = "topk_cone.projection"


def candidate(a: Array, k: int, rho: float = 0.0) -> Array:
    """Projection with a tolerance on the top-k sum."""
    a = np.asarray(a, dtype=float)
    if descending(a)[:k].sum() <= 1e-10 * np.abs(a).max():
        return np.zeros(a.size)
    return unbounded(a, k, rho)
