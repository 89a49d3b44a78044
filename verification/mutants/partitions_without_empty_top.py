"""The partitions with |U| = 0 are left out: (k-1)(d-k+1) pairs, as Lemma 3 of Lapin et al. 2015 counts them."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, constant, descending

PROBLEM = "topk_cone.projection"
ERRATA = ("lapin_2015/lemma_3",)


def candidate(a: Array, k: int, rho: float = 0.0) -> Array:
    """Projection by the partition that fits best among those with an entry at the cap."""
    a = np.asarray(a, dtype=float)
    order = descending(a)
    d, total = a.size, order[:k].sum()
    if k > d or total <= 0:
        return np.zeros(d)
    flat = constant(a, k, total / (k + rho * k * k))
    if flat is not None:
        return flat
    sums = np.concatenate([[0.0], np.cumsum(order)])
    best, least = np.zeros(d), np.inf
    for p in range(1, k):
        for q in range(1, d - p + 1):
            middle = sums[p + q] - sums[p]
            slope = (k - p) ** 2 + (p + rho * k * k) * q
            u = (q * sums[p] + (k - p) * middle) / slope
            t = (middle - (k - p) * u) / q
            below = order[p + q] - t if p + q < d else -np.inf
            worst = max(t - order[p + q - 1], order[p] - t - u, t + u - order[p - 1], below, -u)
            if worst < least:
                best, least = np.clip(a - t, 0, max(u, 0.0)), worst
    return best
