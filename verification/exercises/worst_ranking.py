"""The worst ranking for average precision.

A query has P positive (y = 1) and N negative (y = 0) samples with scores s. For a ranking R
let c_i be the number of negatives above the positive i, t_j the number of positives below
the negative j. The loss is the maximum over all rankings of

    1 - AP(R) + <a(R), s>,  a_i = -2 c_i/(P N) for positives,  a_j = +2 t_j/(P N) for negatives.

Write `loss_augmented_inference(scores, y)`: the coefficients a(R) of a ranking that attains
it, an entry per sample.

Hints
-----
Within the positives, and within the negatives, the order is that of the scores. Then each
negative asks by itself: above how many positives do I stand?

Sort both by falling score. Moving the j-th negative above the k-th positive changes the
objective by h_k(j) = (1/P) k/((j + k)(j + k - 1)) - 2 (s_k - s_j)/(P N). Above the
positives i, ..., P it gains delta_j(i) = sum over k >= i of h_k(j).

opt_j = argmax of delta_j over 1, ..., P + 1, with delta_j(P + 1) = 0: below all of them is
a place, too (the printed Algorithm 1 leaves it out). Then t_j = P + 1 - opt_j, and c_k =
#{j : opt_j <= k}.
"""

import numpy as np

from verification.exercises import wrong

LECTURE = 10
PROBLEM = "average_precision.loss_augmented_inference"


def loss_augmented_inference(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    """Greedy over the negatives, with the whole table of gains."""
    order = np.argsort(-scores, kind="stable")
    up, down = order[y[order] > 0], order[y[order] <= 0]
    P, N = up.size, down.size
    j, k = np.arange(1, N + 1)[:, None], np.arange(1, P + 1)
    margin = (scores[up] - scores[down][:, None]) / N
    gains = (k / ((j + k) * (j + k - 1)) - 2 * margin) / P
    sums = np.cumsum(np.column_stack([np.zeros(N), gains[:, ::-1]]), axis=1)  # from the bottom up
    t = sums.argmax(axis=1)  # positives below each negative
    a = np.zeros(scores.size)
    a[down] = 2 * t / (P * N)
    a[up] = -2 * (t[:, None] > P - k).sum(axis=0) / (P * N)
    return a


@wrong
def as_printed(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    """As Algorithm 1 is printed: no negative may stay below all positives (erratum M1)."""
    order = np.argsort(-scores, kind="stable")
    up, down = order[y[order] > 0], order[y[order] <= 0]
    P, N = up.size, down.size
    j, k = np.arange(1, N + 1)[:, None], np.arange(1, P + 1)
    gains = (k / ((j + k) * (j + k - 1)) - 2 * (scores[up] - scores[down][:, None]) / N) / P
    t = 1 + np.cumsum(gains[:, ::-1], axis=1).argmax(axis=1)
    a = np.zeros(scores.size)
    a[down] = 2 * t / (P * N)
    a[up] = -2 * (t[:, None] > P - k).sum(axis=0) / (P * N)
    return a


@wrong
def sorted_by_score(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The ranking by the scores: the one that is predicted, not the worst one."""
    positive = y > 0
    P, N = positive.sum(), (~positive).sum()
    above = scores[None, :] >= scores[:, None]
    c = (above & ~positive[None, :]).sum(axis=1)
    t = ((scores[None, :] <= scores[:, None]) & positive[None, :]).sum(axis=1)
    return np.where(positive, -2 * c, 2 * t) / (P * N)


@wrong
def margin_without_the_two(scores: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The scores count once instead of twice in the gains."""
    return loss_augmented_inference(scores / 2, y)
