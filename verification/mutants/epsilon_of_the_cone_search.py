"""An absolute epsilon in the conditions of the cone search: right at scale 1, zero for large tied input.

In libsdca (2016) the search of the partition comes back with zero where no bound holds up to 1e-15.
"""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, constant, descending

PROBLEM = "topk_cone.projection"
ERRATA = ("libsdca/absolute_epsilons", "lapin_2015/lemma_4")

EPSILON = 1e-15


def candidate(a: Array, k: int, rho: float = 0.0) -> Array:
    """Projection by a search with a literal tolerance."""
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
            if (
                below - EPSILON <= t <= order[p + q - 1] + EPSILON
                and order[p] - EPSILON <= t + u <= above + EPSILON
            ):
                return np.clip(a - t, 0, u)
    return np.zeros(d)
