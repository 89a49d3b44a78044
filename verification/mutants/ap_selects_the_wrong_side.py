"""The two sides of the selected score are exchanged: the search runs on the negatives below it.

As Algorithm 3 of Mohapatra et al. 2014 prints it.
"""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Answer, Array

PROBLEM = "average_precision.loss_augmented_inference"
ERRATA = ("mohapatra_2014/algorithm_3",)


def ranks(table: Array) -> Array:
    """P + 1 above the score, and the argmax below it."""
    opt = sound.ranks(table)
    last = table.shape[1] + 1
    return np.where(opt < last, last, opt)


def candidate(scores: Array, y: Array) -> Answer:
    """Inference that leaves the active negatives at the bottom."""
    return sound.infer(scores, y, ranks=ranks)
