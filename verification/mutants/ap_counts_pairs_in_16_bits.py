"""The number of pairs P N is a 16-bit integer: beyond 32767 of them the sizes of all steps are wrong."""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Answer, Array

PROBLEM = "average_precision.loss_augmented_inference"


def candidate(scores: Array, y: Array) -> Answer:
    """Inference with coefficients over a wrong number of pairs."""
    value, counts, coefficients = sound.infer(scores, y)
    pairs = int(np.sum(y == 1)) * int(np.sum(y == 0))
    kept = (pairs + 2**15) % 2**16 - 2**15
    return value, counts, coefficients * (pairs / kept if kept else 0.0)
