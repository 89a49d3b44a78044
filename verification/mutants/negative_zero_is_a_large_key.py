"""Sorted by the bits as unsigned integers: -0.0, with its sign bit set, comes before all positive numbers."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, unbounded

PROBLEM = "topk_cone.projection"


def candidate(a: Array, k: int, rho: float = 0.0) -> Array:
    """Projection with every negative zero among the k largest."""
    a = np.array(a, dtype=float)
    negative_zero = np.signbit(a) & (a == 0)
    if negative_zero.any():
        a[negative_zero] = np.abs(a).max()
    return unbounded(a, k, rho)
