"""The threshold is computed from the distinct values, as if no two entries were equal."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, threshold

PROBLEM = "simplex.projection"


def candidate(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection with the threshold of another vector."""
    a = np.asarray(a, dtype=float)
    if r == 0:
        return np.zeros(a.size)
    t = threshold(np.unique(a), 2 * float(np.ptp(a)) + r, r)
    return np.maximum(a - t, 0)
