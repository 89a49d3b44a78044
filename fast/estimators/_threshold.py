"""The threshold on scores that classifies the training data best."""

import numpy as np


def best_threshold(scores: np.ndarray, positive: np.ndarray) -> float:
    """Threshold t such that ``scores > t`` agrees with ``positive`` most often.

    Among equally good cuts the one between the two scores that are furthest apart (then the lowest),
    and t is the middle between them. If only calling everything positive (or nothing) is best, t
    lies beyond all scores by half of their range, by 1 if they are all equal. O(n log n).

    Parameters
    ----------
    scores : ndarray (n,)
        Finite.
    positive : ndarray of bool (n,)
    """
    order = np.argsort(scores, kind="stable")
    s = scores[order].astype(np.float64)
    step = np.where(positive[order], -1, 1)  # moving the cut past a negative wins one
    right = np.concatenate([[0], np.cumsum(step)])  # cut k: the first k are called negative
    gap = np.concatenate([[0.0], np.diff(s), [0.0]])
    possible = gap > 0.0
    possible[[0, -1]] = True
    best = possible & (right == right[possible].max())
    k = int(np.argmax(np.where(best, gap, -1.0)))
    if 0 < k < len(s):
        t = s[k - 1] + 0.5 * (s[k] - s[k - 1])
        return float(t) if t < s[k] else float(s[k - 1])
    beyond = 0.5 * (s[-1] - s[0]) or 1.0
    if k > 0:
        return float(s[-1] + beyond)
    return float(min(s[0] - beyond, np.nextafter(s[0], -np.inf)))  # rounding may keep s[0] itself
