"""Average precision loss: 1 - AP, bounded by its structured hinge over all rankings.

L(s; y) = max over rankings R of Delta(R) + <s, Psi(R) - Psi(R*)>, Delta = 1 - AP, for scores s and
binary labels y with P positives and N negatives. A ranking is described by the number c_i of
negatives above each positive: Delta = 1 - (1/P) sum_k k/(k + c_(k)), c_(1) <= ... <= c_(P).
"""

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast.ranking import inference as inference
from fast.ranking.losses import AVERAGE_PRECISION, METHODS
from fast.ranking.queries import Queries


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
        """Delta = 1 - AP of the ranking."""
        return AVERAGE_PRECISION.delta(np.sort(self.counts))


def loss_augmented_inference(
    scores: ArrayLike, y: ArrayLike, method: str = "divide_and_conquer"
) -> Inference:
    """Find the ranking that maximises Delta(R) + <s, Psi(R) - Psi(R*)>.

    Every method is exact, and all return the same counts: of several optimal rankings the one
    with the fewest inversions, and among samples of one class with equal scores the first in
    input order ranked highest.

    Parameters
    ----------
    scores : array_like, shape (n,)
        Scores; float64, float32 or integers (computed as float64). Never changed.
    y : array_like, shape (n,)
        Labels: True or 1 for positives, False, 0 or -1 for negatives; at least one of each.
    method : str
        "divide_and_conquer" (default), O(n + c log c + P log P log c) with c the negatives that are
        not below every positive (below 4096 samples all are sorted); "greedy", O(P N) after sorting
        (Yue et al. 2007); "search" (Mohapatra et al. 2014, Alg. 2), "select" (Alg. 3), "all" (both,
        and ranks shared between equal neighbours), or "numpy", which compiles nothing.

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
    Mohapatra, Jawahar and Kumar 2014, equation (4), with P + 1 among the ranks. The recursion, in which the rank of
    the middle negative bounds those of both halves, is that of Mohapatra, Rolinek, Jawahar, Kolmogorov and Kumar,
    "Efficient Optimization for Rank-Based Loss Functions", CVPR 2018 (arXiv 1604.08269), which selects where this
    sorts; added here are bisection over ranks, the certified floor and exact signs. Ranks are decided
    exactly; ``value`` is right to a few units of rounding of the sum of the magnitudes of Delta and
    of the coefficients times the scores, these relative to the middle positive.
    """
    result, coefficients = inference.most_violated(AVERAGE_PRECISION, scores, y, method)
    return Inference(result.value, result.counts, coefficients)


def value(scores: ArrayLike, y: ArrayLike) -> float:
    """Structured hinge L(s; y) >= 1 - AP of the scores, ties counted against them.

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
    Mohapatra, Jawahar and Kumar 2014, the slack of equation (3).
    """
    return loss_augmented_inference(scores, y).value


def _warmup() -> None:
    for n in (3, 1 << 14):  # the second size samples
        y = np.arange(n) == 0
        for name in METHODS[: None if n == 3 else 1]:
            loss_augmented_inference(y.astype(np.float64), y, name)
    loss_augmented_inference(np.zeros(3), np.array([1, 0, 0]))
    Queries([1, 0, 1, 0], [0, 0, 1, 1]).infer(np.zeros(4))
