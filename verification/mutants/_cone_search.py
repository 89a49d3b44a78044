"""The search of the cone's partition that two mutants share: they differ in which thresholds they accept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from verification.mutants._sound import Array, constant, descending

#: (lower, t, upper): whether a threshold fits between two entries.
Fits = Callable[[float, float, float], bool]


def search(a: Array, k: int, rho: float, fits: Fits) -> Array:
    """Projection by trying every partition; zero where none fits, as Lemma 4 offers."""
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
            if fits(below, t, order[p + q - 1]) and fits(order[p], t + u, above):
                return np.clip(a - t, 0, u)
    return np.zeros(d)
