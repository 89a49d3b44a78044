"""A negative counts the positives below it one short: the coefficients do not sum to 0."""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Answer, Array

PROBLEM = "average_precision.loss_augmented_inference"


def candidate(scores: Array, y: Array) -> Answer:
    """Inference with P - opt for P + 1 - opt at the negatives."""
    value, counts, coefficients = sound.infer(scores, y)
    short = np.maximum(coefficients - 2.0 / (len(counts) * (len(y) - len(counts))), 0.0)
    return value, counts, np.where(y > 0, coefficients, short)
