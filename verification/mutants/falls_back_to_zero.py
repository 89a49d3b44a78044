"""Strict inequalities in condition (7) of Lapin et al. 2015; where no partition fits, zero.

Lemma 4 offers zero as the fallback; with ties at the thresholds the strict search finds nothing.
"""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, constant, descending

PROBLEM = "topk_cone.projection"
ERRATA = ("lapin_2015/lemma_4",)


def candidate(a: Array, k: int, rho: float = 0.0) -> Array:
    """Projection by a search that may come back with nothing."""
    a = np.asarray(a, dtype=float)
    order = descending(a)
    d, total = a.size, order[:k].sum()
    if k > d or total <= 0:
        return np.zeros(d)
    flat = constant(a, k, total / (k + rho * k * k))
    if flat is not None:
        return flat
    sums = np.concatenate([[0.0], np.cumsum(order)])
    for p in range(k):
        for q in range(max(1, k - p), d - p + 1):
            middle = sums[p + q] - sums[p]
            slope = (k - p) ** 2 + (p + rho * k * k) * q
            u = (q * sums[p] + (k - p) * middle) / slope
            t = (middle - (k - p) * u) / q
            below = order[p + q] if p + q < d else -np.inf
            above = order[p - 1] if p else np.inf
            if below < t < order[p + q - 1] and order[p] < t + u < above:
                return np.clip(a - t, 0, u)
    return np.zeros(d)
