"""Bisection over all ranks, also where there are more positives than negatives so far.

delta_j is concave up to rank min(P, j) + 1 only.
"""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Answer, Array

PROBLEM = "average_precision.loss_augmented_inference"
ERRATA = ("mohapatra_2014/proposition_1",)


def ranks(table: Array) -> Array:
    """First rank from which on the gains are positive, by bisection."""
    N, P = table.shape
    opt = np.empty(N, dtype=np.int64)
    for j in range(N):
        low, high = 0, P
        while low < high:
            middle = (low + high) // 2
            if table[j, middle] > 0:
                high = middle
            else:
                low = middle + 1
        opt[j] = low + 1
    # a valid ranking in any case
    return np.maximum.accumulate(opt)


def candidate(scores: Array, y: Array) -> Answer:
    """Inference that takes every delta_j for concave."""
    return sound.infer(scores, y, ranks=ranks)
