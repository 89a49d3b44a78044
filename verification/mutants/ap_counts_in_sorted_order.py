"""The counts come in the order of the scores, not in that of the samples; the coefficients are right."""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Answer, Array

PROBLEM = "average_precision.loss_augmented_inference"


def candidate(scores: Array, y: Array) -> Answer:
    """Inference with sorted counts."""
    value, counts, coefficients = sound.infer(scores, y)
    return value, np.sort(counts), coefficients
