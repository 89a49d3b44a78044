"""Curvature of the ranking hinge where rankings change so often that it is nearly smooth.

With P positives (k-th in descending order), N negatives, t their scores in descending order, c_k negatives
above the k-th positive and r_j positives below the j-th negative,

L = max over c of sum_k (1/P) c_k/(k + c_k) + 2/(P N) (sum_j r_j t_j - sum_k c_k s_k).

Its second derivative has three parts. c_k moves with s_k - t_j, j next to c_k, at the inverse of
the second difference of its term. A negative that passes others takes over their r_j, and a positive
the c_k: dr/dt and -dc/ds are the weights of pairs of negatives and of positives of nearly the same
score, large where scores lie close together, as those of support vectors do. Changes of scores that
differ between neighbours are counted by the first part too, up to twice in all.
"""

import numpy as np

from fast.ranking.losses import RankLoss
from fast.ranking.queries import Queries

DRAWN = 20  # pairs for each positive, at most: of fewer positives they are too few of their kind
NEAR = 3  # ranks, at least, over which the spacing of scores is measured


def pairs(
    queries: Queries, scores: np.ndarray, coefficients: np.ndarray, most: int, width: float = 0.0
) -> tuple[np.ndarray, np.ndarray, np.ndarray] | None:
    """(i, j, weight) with L(s + h) - L(s) - <L', h> about 1/2 sum weight (h_i - h_j)^2.

    At most ``most`` of them, drawn in proportion to the root of their weight; None where there is no curvature,
    for more than one query, or for few positives. Kinks are spread over ``width``, the size of h.
    """
    if queries.n_queries > 1:
        return None
    rng = np.random.default_rng(0)
    above, below = np.flatnonzero(queries.positives), np.flatnonzero(~queries.positives)
    above = above[np.argsort(-scores[above], kind="stable")]
    below = below[np.argsort(-scores[below], kind="stable")]
    if DRAWN * len(above) < most:
        return None
    found = [
        _between(rng, above, below, np.sort(queries.inversions(coefficients)[above]), scores, queries.loss),
        _among(rng, above, scores[above], np.sort(-coefficients[above]), width),
        _among(rng, below, scores[below], np.sort(-coefficients[below]), width),
    ]
    i, j, weight = (np.concatenate(part) for part in zip(*found, strict=True))
    kept = weight > 0.0
    i, j, weight = i[kept], j[kept], weight[kept]
    if not len(i):
        return None
    if len(i) > most:
        chance = np.sqrt(weight)
        chance /= chance.sum()
        drawn = rng.choice(len(i), most, p=chance)
        i, j, weight = i[drawn], j[drawn], weight[drawn] / (most * chance[drawn])
    return i, j, weight


def _between(
    rng: np.random.Generator,
    above: np.ndarray,
    below: np.ndarray,
    c: np.ndarray,
    scores: np.ndarray,
    loss: RankLoss,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of a positive and of a negative beside its place."""
    P, N, t = len(above), len(below), scores[below]
    k = np.flatnonzero((c > 0) & (c < N))
    c = c[k]
    near = np.maximum(np.sqrt(c).astype(int), NEAR)
    low, high = np.maximum(c - near, 0), np.minimum(c + near, N - 1)
    spacing = (t[low] - t[high]) / np.maximum(high - low, 1)
    bend = loss.bend(k + 1.0, c, P) + 2.0 / (P * N) * spacing
    beside = np.clip(c + rng.integers(-near, near + 1), 0, N - 1)
    return above[k], below[beside], (2.0 / (P * N)) ** 2 / bend


def _among(
    rng: np.random.Generator, rows: np.ndarray, s: np.ndarray, rate: np.ndarray, width: float
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Pairs of neighbours in sum_r -rate_r s_r, s descending and -rate with it."""
    n, at = len(s), np.arange(len(s))
    low = np.maximum(np.minimum(np.searchsorted(-s, -s - width), at - NEAR), 0)
    high = np.minimum(np.maximum(np.searchsorted(-s, width - s), at + NEAR), n - 1)
    span = np.maximum(s[low] - s[high], 2.0 * width)
    weight = np.divide(rate[high] - rate[low], 2.0 * span, out=np.zeros(n), where=span > 0.0)
    return rows, rows[rng.integers(low, high + 1)], weight
