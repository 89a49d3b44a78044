"""The search of the cone's partition: its mutants differ in the partitions they try and accept."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from verification.mutants.sound.projections import Array, constant, descending

#: (lower, t, upper): whether a threshold fits between two entries.
Fits = Callable[[float, float, float], bool]


def begin(a: Array, k: int, rho: float) -> tuple[Array, Array | None]:
    """The entries in descending order, and the projection where no partition has to be searched for."""
    order = descending(a)
    total = order[:k].sum()
    if k > a.size or total <= 0:
        return order, np.zeros(a.size)
    return order, constant(a, k, total / (k + rho * k * k))


def thresholds(order: Array, k: int, rho: float, p: int, q: int) -> tuple[float, float]:
    """Threshold t and height u with the p largest entries at the cap and the next q between the bounds."""
    top, middle = order[:p].sum(), order[p : p + q].sum()
    slope = (k - p) ** 2 + (p + rho * k * k) * q
    u = (q * top + (k - p) * middle) / slope
    return (middle - (k - p) * u) / q, u


def search(a: Array, k: int, rho: float, fits: Fits) -> Array:
    """Projection by trying every partition; zero where none fits, as Lemma 4 offers."""
    a = np.asarray(a, dtype=float)
    order, easy = begin(a, k, rho)
    if easy is not None:
        return easy
    d = a.size
    for p in range(k):
        for q in range(max(1, k - p), d - p + 1):
            t, u = thresholds(order, k, rho, p, q)
            below = order[p + q] if p + q < d else -np.inf
            above = order[p - 1] if p else np.inf
            if fits(below, t, order[p + q - 1]) and fits(order[p], t + u, above):
                return np.clip(a - t, 0, u)
    return np.zeros(d)
