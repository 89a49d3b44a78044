"""The partitions with |U| = 0 are left out: (k-1)(d-k+1) pairs, as Lemma 3 of Lapin et al. 2015 counts them."""

from __future__ import annotations

import numpy as np

from verification.mutants._cone_search import begin, thresholds
from verification.mutants._sound import Array

PROBLEM = "topk_cone.projection"
ERRATA = ("lapin_2015/lemma_3",)


def candidate(a: Array, k: int, rho: float = 0.0) -> Array:
    """Projection by the partition that fits best among those with an entry at the cap."""
    a = np.asarray(a, dtype=float)
    order, easy = begin(a, k, rho)
    if easy is not None:
        return easy
    d = a.size
    best, least = np.zeros(d), np.inf
    for p in range(1, k):
        for q in range(1, d - p + 1):
            t, u = thresholds(order, k, rho, p, q)
            below = order[p + q] - t if p + q < d else -np.inf
            worst = max(t - order[p + q - 1], order[p] - t - u, t + u - order[p - 1], below, -u)
            if worst < least:
                best, least = np.clip(a - t, 0, max(u, 0.0)), worst
    return best
