"""Inference for many short queries in one call, where NumPy calls per query would dominate."""

import numpy as np
from numpy.typing import NDArray

from fast._numba import kernel
from fast.ranking import kernels as kernels
from fast.ranking.losses import RankLoss
from fast.ranking.select import select
from fast.ranking.split import rank_positives
from fast.ranking.write import BUCKETS, complete

SHORT = 4 * kernels.STACK  # 512 samples; in longer queries NumPy's sort is worth its call
_RUN = 8


@kernel
def sort_places(values, order, work):
    """Write the places that sort ``values`` ascending: runs by insertion, then merges."""
    n = values.shape[0]
    for i in range(n):
        v = values[i]
        j = i
        while j & (_RUN - 1) and values[order[j - 1]] > v:
            order[j] = order[j - 1]
            j -= 1
        order[j] = i
    width = _RUN
    while width < n:
        for left in range(0, n, 2 * width):
            middle, right = min(left + width, n), min(left + 2 * width, n)
            for k in range(left, right):
                work[k] = order[k]
            a, b = left, middle
            for k in range(left, right):
                if b >= right or (a < middle and values[work[a]] <= values[work[b]]):
                    order[k] = work[a]
                    a += 1
                else:
                    order[k] = work[b]
                    b += 1
        width *= 2


@kernel
def infer_short(method, given_queries, space, coefficients, loss_table):
    """Write coefficients of all short queries; returns weighted sums of L and Delta, and the active.

    Of the queries (values, places, starts, positives, weights) ``values`` and their ``places`` in the coefficients hold
    query q from starts[q] on, its positives first. The space, (floats (5, SHORT), numbers (8, SHORT), table), is
    overwritten.
    """
    values, places, starts, positives, weights = given_queries
    floats, numbers, table = space
    value = loss = 0.0
    active = 0
    queries = starts.shape[0] - 1
    for q in range(queries):
        first, last = starts[q], starts[q + 1]
        n, p = last - first, positives[q]
        if n > SHORT:
            continue
        middle = first + p
        s, t = floats[0, :p], floats[1, : n - p]
        start, order, work = numbers[4, :p], numbers[5], numbers[6]
        sort_places(values[first:middle], order, work)
        rank_positives(values[first:middle], order, s, start)
        near = values[middle:last]
        chosen = floats[2, : n - p]
        for i in range(n - p):
            chosen[i] = near[i]
        if method == kernels.SELECT or method == kernels.ALL:
            count = select(chosen, s)
            chosen, t = chosen[:count], t[:count]
        sort_places(chosen, order, work)
        for i in range(t.shape[0]):
            t[i] = chosen[order[i]]
        sorted_scores = s, start, t, n - p
        given = near, places[middle:last], places[first:middle], weights[q] / queries
        space = numbers, floats[3:], table, floats[2]
        one, delta, found = complete(method, sorted_scores, given, space, numbers[7], coefficients, loss_table)
        value += weights[q] * one
        loss += weights[q] * delta
        active += found
    return value, loss, active


def run(
    name: str,
    values: NDArray[np.float64],
    places: NDArray[np.int64],
    starts: NDArray[np.int64],
    positives: NDArray[np.int64],
    weights: NDArray[np.float64],
    coefficients: NDArray[np.float64],
    loss: RankLoss,
) -> tuple[float, float, int]:
    """Inference for the short ones among the queries."""
    floats = np.empty((5, SHORT))
    numbers = np.empty((8, SHORT), dtype=np.int64)
    table = np.empty(BUCKETS * SHORT + 1, dtype=np.int32)
    queries = values, places, starts, positives, weights
    return infer_short(kernels.NUMBERS[name], queries, (floats, numbers, table), coefficients, loss.table(SHORT))
