"""Sound, slow inference for average precision and NDCG that the mutants are made from.

The greedy of Yue et al. over the whole table of gains, with P + 1 among the ranks; each step is a
function that a mutant may replace.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

Array = np.ndarray[Any, Any]
Answer = tuple[float, Array, Array]


def positions(scores: Array, y: Array) -> tuple[Array, Array]:
    """Indices of the positives and of the negatives, each by descending score."""
    order = np.argsort(-scores, kind="stable")
    return order[y[order] > 0], order[y[order] <= 0]


def gains(up: Array, down: Array) -> Array:
    """h_k(j) over (j, k): what one more inversion adds to the objective."""
    j, k = np.arange(1, len(down) + 1)[:, None], np.arange(1, len(up) + 1)
    margin = (up - down[:, None]) / len(down)
    return (k / ((j + k) * (j + k - 1)) - 2 * margin) / len(up)


def discounts(ranks: Array) -> Array:
    """1/log2(1 + r) of ranks."""
    return np.asarray(1 / np.log2(1 + ranks))


def discounted_gains(
    up: Array, down: Array, discounts: Callable[[Array], Array] = discounts, best: int | None = None
) -> Array:
    """h_k(j) of NDCG, whose best DCG is that of P positives (``best``)."""
    m = np.arange(1, len(down) + 1)[:, None] + np.arange(1, len(up) + 1)
    whole = discounts(np.arange(1, (best or len(up)) + 1)).sum()
    margin = 2 * (up - down[:, None]) / (len(up) * len(down))
    return (discounts(m - 1) - discounts(m)) / whole - margin


def suffix_sums(table: Array) -> Array:
    """delta_j(i) over (j, i) with i = 1..P+1."""
    sums = np.cumsum(table[:, ::-1], axis=1)[:, ::-1]
    return np.column_stack([sums, np.zeros(len(table))])


def ranks(table: Array) -> Array:
    """Interleaving ranks opt_j in 1..P+1, of equal ones the largest."""
    values = suffix_sums(table)[:, ::-1]
    return values.shape[1] - values.argmax(axis=1)


def delta(counts: Array) -> float:
    """1 - AP from the negatives above each positive."""
    c = np.sort(counts)
    return float((c / (np.arange(1, len(c) + 1) + c)).mean())


def discounted_delta(counts: Array) -> float:
    """1 - NDCG from the negatives above each positive."""
    k = np.arange(1, len(counts) + 1)
    return float(1 - discounts(k + np.sort(counts)).sum() / discounts(k).sum())


def answer(
    scores: Array,
    y: Array,
    up: Array,
    down: Array,
    opt: Array,
    loss: Callable[[Array], float] = delta,
) -> Answer:
    """Value, counts in the order of the labels, and coefficients of the ranking given by ``opt``."""
    P, N = len(up), len(down)
    inversions = np.zeros(P + N, dtype=np.int64)
    inversions[down] = P + 1 - opt
    inversions[up] = (opt[:, None] <= np.arange(1, P + 1)).sum(axis=0)
    coefficients = np.where(y > 0, -2.0, 2.0) * inversions / (P * N)
    value = loss(inversions[y > 0]) + float(coefficients @ scores)
    return value, inversions[y > 0], coefficients


def infer(
    scores: Array,
    y: Array,
    gains: Callable[[Array, Array], Array] = gains,
    ranks: Callable[[Array], Array] = ranks,
    loss: Callable[[Array], float] = delta,
    positions: Callable[[Array, Array], tuple[Array, Array]] = positions,
) -> Answer:
    """Loss-augmented inference; any of its steps may be another function."""
    scores = np.asarray(scores, dtype=float)
    up, down = positions(scores, y)
    return answer(scores, y, up, down, ranks(gains(scores[up], scores[down])), loss)


def infer_discounted(scores: Array, y: Array, **steps: Any) -> Answer:
    """The same for NDCG."""
    return infer(scores, y, **{"gains": discounted_gains, "loss": discounted_delta, **steps})
