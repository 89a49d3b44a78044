"""The negatives are taken in the order of the input."""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Answer, Array

PROBLEM = "average_precision.loss_augmented_inference"


def positions(scores: Array, y: Array) -> tuple[Array, Array]:
    """Positives by descending score, negatives as they come."""
    return sound.positions(scores, y)[0], np.flatnonzero(y <= 0)


def candidate(scores: Array, y: Array) -> Answer:
    """Inference on negatives in any order."""
    return sound.infer(scores, y, positions=positions)
