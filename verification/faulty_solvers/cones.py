"""Projections on the top-k cone: what is taken for zero, and which partition is taken for the right one."""

import numpy as np

from verification.faulty_solvers import wrong
from verification.reference_solvers.projections import (
    Array,
    begin,
    descending,
    search,
    thresholds,
    unbounded,
)

EPSILON = 1e-15


@wrong("topk_cone.projection", erratum="libsdca/absolute_epsilons")
def absolute_epsilon(a: Array, k: int, rho: float = 0.0) -> Array:
    """Whatever is below 1e-9 counts as zero, at every scale."""
    if descending(np.asarray(a, dtype=float))[:k].sum() <= 1e-9:
        return np.zeros(len(a))
    return unbounded(a, k, rho)


@wrong("topk_cone.projection")
def cone_zero_below_a_relative_epsilon(a: Array, k: int, rho: float = 0.0) -> Array:
    """Whatever is below 1e-10 of the largest entry counts as zero, at every scale."""
    a = np.asarray(a, dtype=float)
    if descending(a)[:k].sum() <= 1e-10 * np.abs(a).max():
        return np.zeros(a.size)
    return unbounded(a, k, rho)


@wrong("topk_cone.projection", erratum=("libsdca/absolute_epsilons", "lapin_2015/lemma_4"))
def epsilon_of_the_cone_search(a: Array, k: int, rho: float = 0.0) -> Array:
    """An absolute epsilon in the conditions of the cone search: right at scale 1, zero for large tied input.

    In libsdca (2016) the search of the partition comes back with zero where no bound holds up to 1e-15.
    """
    return search(a, k, rho, lambda low, t, high: low - EPSILON <= t <= high + EPSILON)


@wrong("topk_cone.projection", erratum="lapin_2015/lemma_4")
def falls_back_to_zero(a: Array, k: int, rho: float = 0.0) -> Array:
    """Strict inequalities in condition (7) of Lapin et al. 2015; where no partition fits, zero.

    Lemma 4 offers zero as the fallback; with ties at the thresholds the strict search finds nothing.
    """
    return search(a, k, rho, lambda low, t, high: low < t < high)


@wrong("topk_cone.projection", erratum="lapin_2015/lemma_3")
def flat_at_every_gap(a: Array, k: int, rho: float = 0.0) -> Array:
    """Case 2 of Lemma 3 is taken wherever the k-th entry stands clear of the next one, by however little.

    It holds only where the distance is at least the height S_k(a)/(k + rho k^2).
    """
    a = np.asarray(a, dtype=float)
    order = descending(a)
    total = order[:k].sum()
    if k < a.size and total > 0 and order[k - 1] > order[k]:
        x = np.zeros(a.size)
        x[np.argsort(-a, kind="stable")[:k]] = total / (k + rho * k * k)
        return x
    return unbounded(a, k, rho)


@wrong("topk_cone.projection", erratum="lapin_2015/lemma_3")
def partitions_without_empty_top(a: Array, k: int, rho: float = 0.0) -> Array:
    """The partitions with |U| = 0 are left out: (k-1)(d-k+1) pairs, as Lemma 3 of Lapin et al. 2015 counts them."""
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


@wrong("topk_cone.projection")
def negative_zero_is_a_large_key(a: Array, k: int, rho: float = 0.0) -> Array:
    """Sorted by the bits as unsigned integers: -0.0, with its sign bit set, comes before all positive numbers."""
    a = np.array(a, dtype=float)
    negative_zero = np.signbit(a) & (a == 0)
    if negative_zero.any():
        a[negative_zero] = np.abs(a).max()
    return unbounded(a, k, rho)


@wrong("topk_cone.projection")
def pointer_without_strides(a: Array, k: int, rho: float = 0.0) -> Array:
    """Reads the memory behind the array as it comes: wrong for views with gaps between their entries."""
    behind = a if a.base is None or a.flags.c_contiguous else np.asarray(a.base).ravel()[: a.size]
    return unbounded(behind, k, rho)


@wrong("topk_cone.projection")
def reciprocal_of_the_largest(a: Array, k: int, rho: float = 0.0) -> Array:
    """The input is scaled by 1/max|a|, which overflows below the smallest normal numbers."""
    a = np.asarray(a, dtype=float)
    top = np.abs(a).max()
    if top == 0:
        return np.zeros(a.size)
    with np.errstate(over="ignore", invalid="ignore"):
        scaled = a * (1 / top)
        return unbounded(scaled, k, rho) * top if np.isfinite(scaled).all() else a * np.nan
