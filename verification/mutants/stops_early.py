"""Bisection for the threshold stops after 25 steps."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array

PROBLEM = "simplex.projection"


def candidate(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection to about seven digits, scaled to the right sum."""
    a = np.asarray(a, dtype=float)
    if r == 0:
        return np.zeros(a.size)
    low, high = float(a.max()) - r, float(a.max())
    for _ in range(25):
        middle = low + (high - low) / 2
        if np.maximum(a - middle, 0).sum() > r:
            low = middle
        else:
            high = middle
    x = np.maximum(a - low, 0)
    return x * (r / x.sum())
