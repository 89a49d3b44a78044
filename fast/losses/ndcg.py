"""NDCG loss: 1 - DCG/best DCG, bounded by its structured hinge over all rankings.

L(s; y) = max over rankings R of Delta(R) + <s, Psi(R) - Psi(R*)>, Delta = 1 - DCG/Z, for scores s and
binary labels y with P positives and N negatives; DCG sums d(r) = 1/log2(1 + r) over the ranks r of the
positives, Z = d(1) + ... + d(P). With c_(1) <= ... <= c_(P) negatives above the positives,
Delta = (1/Z) sum_k d(k) - d(k + c_(k)). Two grades of relevance, whatever their gains, are this loss times a
constant; three are not, and NDCG@k is not (docs/losses/ndcg.md says why).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast.ranking import inference as inference
from fast.ranking.losses import NDCG
from fast.ranking.queries import Queries

METHODS = NDCG.methods


class Inference(NamedTuple):
    """The most violated ranking.

    Attributes
    ----------
    value : float
        L = Delta + <coefficients, scores>, never negative.
    counts : ndarray, shape (P,)
        Negatives above each positive, in the order of the positives in ``y``; int64.
    coefficients : ndarray, shape (n,)
        Subgradient of L with respect to the scores: -2 c_i/(P N) at the positives, 2 t_j/(P N) at
        the negatives, t_j the positives below negative j. Sums to 0.
    """

    value: float
    counts: NDArray[np.int64]
    coefficients: NDArray[np.float64]

    @property
    def delta(self) -> float:
        """Delta = 1 - NDCG of the ranking."""
        return NDCG.delta(np.sort(self.counts))


def loss_augmented_inference(
    scores: ArrayLike, y: ArrayLike, method: str = "divide_and_conquer"
) -> Inference:
    """Find the ranking that maximises Delta(R) + <s, Psi(R) - Psi(R*)>.

    Parameters
    ----------
    scores : array_like, shape (n,)
        Scores; float64, float32 or integers (computed as float64). Never changed.
    y : array_like, shape (n,)
        Labels: True or 1 for positives, False, 0 or -1 for negatives; at least one of each.
    method : str
        "divide_and_conquer" (default), O(n + c log c + P log c) with c the negatives that are not below
        every positive (below 4096 samples all are sorted); "greedy", O(P N) after sorting.

    Returns
    -------
    Inference
        ``value``, ``counts`` (P,) and ``coefficients`` (n,).

    Raises
    ------
    fast.errors.InvalidParameterError
        Scores that are not finite, shapes that do not match, other labels, no positive, no
        negative, an unknown method.

    Notes
    -----
    The j-th negative stands above the positives k >= i, i the largest maximiser of sum_{k >= i} h_k(j),
    h_k(j) = [d(k + j - 1) - d(k + j)]/Z - 2 (s_k - s_j)/(P N), which falls with j; between the ranks of two
    negatives lie those of all between them: Mohapatra, Rolinek, Jawahar, Kolmogorov and Kumar,
    "Efficient Optimization for Rank-Based Loss Functions", CVPR 2018. Logarithms being irrational, what
    float64 can't tell apart is a tie, in which the fewest inversions win: of the value this costs no
    more than some units of rounding of the sum of the magnitudes of its terms.
    """
    result, coefficients = inference.most_violated(NDCG, scores, y, method)
    return Inference(result.value, result.counts, coefficients)


def value(scores: ArrayLike, y: ArrayLike) -> float:
    """Structured hinge L(s; y) >= 1 - NDCG of the scores, ties counted against them.

    Parameters
    ----------
    scores : array_like, shape (n,)
        Scores; float64, float32 or integers (computed as float64). Never changed.
    y : array_like, shape (n,)
        Labels: True or 1 for positives, False, 0 or -1 for negatives; at least one of each.

    Returns
    -------
    float
        L = max over rankings of Delta + <s, Psi(R) - Psi(R*)> >= 0. Rounding errors are relative
        to the terms of the sum, not to L.

    Raises
    ------
    fast.errors.InvalidParameterError
        As :func:`loss_augmented_inference`.

    Notes
    -----
    Mohapatra et al., CVPR 2018; L is convex, a maximum of affine functions.
    """
    return loss_augmented_inference(scores, y).value


def _warmup() -> None:
    for n in (3, 1 << 14):  # the second size samples
        y = np.arange(n) == 0
        loss_augmented_inference(y.astype(np.float64), y)
    Queries([1, 0, 1, 0], [0, 0, 1, 1], loss=NDCG).infer(np.zeros(4))
