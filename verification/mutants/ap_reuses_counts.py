"""The counts are written to one buffer, which the next call overwrites."""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Answer, Array

PROBLEM = "average_precision.loss_augmented_inference"

_buffer = np.zeros(1024, dtype=np.int64)


def candidate(scores: Array, y: Array) -> Answer:
    """Inference with a view of the buffer."""
    value, counts, coefficients = sound.infer(scores, y)
    out = _buffer[: len(counts)]
    out[:] = counts
    return value, out, coefficients
