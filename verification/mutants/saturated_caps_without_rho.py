"""Wrong only for rho > 0 with entries at the cap: their share of the sum is forgotten in its bias."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, beta

PROBLEM = "topk_simplex_beta.projection"


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection by fixed-point iteration on the sum of the free entries."""
    a = np.asarray(a, dtype=float)
    x = beta(a, k, r, rho)
    full = (x >= r / k) & (x > 0)
    if rho == 0 or not full.any() or full.all():
        return x
    x[~full] = beta(a[~full], k, r, rho)
    return x if x.sum() <= r else beta(a, k, r, rho)
