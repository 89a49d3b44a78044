"""Curvature of the ranking hinge where rankings change so often that it is nearly smooth.

With P positives (k-th in descending order), N negatives and c_k negatives above the k-th positive,
L = max over c of a sum of separate terms: c_k moves with the difference of the score of the k-th
positive and that of the negative beside it. Its rate is the inverse of the second difference of

1/P k/(k + c) + 2/(P N) sum_{j <= c} t_j,   t the negatives' scores in descending order.
"""

import numpy as np

from fast.ranking.queries import Queries

NEAR = 3  # ranks, at least, over which the spacing of negatives is measured


def pairs(
    queries: Queries, scores: np.ndarray, coefficients: np.ndarray, most: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """(i, j, weight) with L(s + h) - L(s) - <L', h> about 1/2 sum weight (h_i - h_j)^2.

    At most ``most`` of them, drawn in proportion to their weight; None where there is no curvature,
    or more than one query.
    """
    if queries.n_queries > 1:
        return None
    above, below = np.flatnonzero(queries.positives), np.flatnonzero(~queries.positives)
    above = above[np.argsort(-scores[above], kind="stable")]
    below = below[np.argsort(-scores[below], kind="stable")]
    P, N, rng = len(above), len(below), np.random.default_rng(0)
    c = np.sort(queries.inversions(coefficients)[above])
    k = np.flatnonzero((c > 0) & (c < N))
    if not len(k):
        return None
    c = c[k]
    near = np.maximum(np.sqrt(c).astype(int), NEAR)
    low, high = np.maximum(c - near, 0), np.minimum(c + near, N - 1)
    t = scores[below]
    spacing = (t[low] - t[high]) / np.maximum(high - low, 1)
    bend = 2.0 / P * (k + 1.0) / (k + 1.0 + c) ** 3 + 2.0 / (P * N) * spacing
    weight = (2.0 / (P * N)) ** 2 / bend
    if len(k) > most:
        total = weight.sum()
        drawn = rng.choice(len(k), most, p=weight / total)
        k, c, near, weight = k[drawn], c[drawn], near[drawn], np.full(most, total / most)
    beside = np.clip(c + rng.integers(-near, near + 1), 0, N - 1)
    return above[k], below[beside], weight
