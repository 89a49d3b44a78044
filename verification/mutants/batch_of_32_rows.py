"""A grid of 32 rows: those after them are left as they were allocated."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, unbounded

PROBLEM = "topk_cone.projection"


def candidate(a: Array, k: int, rho: float | Array = 0.0) -> Array:
    """Projection of up to 32 rows."""
    a = np.asarray(a, dtype=float)
    if a.ndim == 1:
        return unbounded(a, k, float(rho))
    x, rhos = np.zeros(a.shape), np.broadcast_to(rho, len(a))
    for i in range(min(32, len(a))):
        x[i] = unbounded(a[i], k, rhos[i])
    return x
