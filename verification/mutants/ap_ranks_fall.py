"""Divide and conquer for ranks that fall with the negatives; they rise.

Section 3.2 of Mohapatra et al. 2014 prints opt_k >= opt_j for k < j.
"""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Answer, Array

PROBLEM = "average_precision.loss_augmented_inference"
ERRATA = ("mohapatra_2014/section_3_2",)


def ranks(table: Array) -> Array:
    """The middle negative first; the better ones are sought among higher ranks."""
    deltas = sound.suffix_sums(table)
    opt = np.zeros(len(table), dtype=np.int64)

    def solve(first: int, last: int, low: int, high: int) -> None:
        if first >= last:
            return
        middle = (first + last) // 2
        best = low + int(deltas[middle, low : high + 1].argmax())
        opt[middle] = best + 1
        solve(first, middle, best, high)
        solve(middle + 1, last, low, best)

    solve(0, len(table), 0, table.shape[1])
    return opt


def candidate(scores: Array, y: Array) -> Answer:
    """Inference that divides the wrong way round."""
    return sound.infer(scores, y, ranks=ranks)
