"""The gain of a rank is a difference of two fractions, in float32.

(5) of Mohapatra et al. 2014 as printed; k/((j+k)(j+k-1)) does not cancel.
"""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Answer, Array

PROBLEM = "average_precision.loss_augmented_inference"
ERRATA = ("mohapatra_2014/equation_5",)


def gains(up: Array, down: Array) -> Array:
    """j/(j+k) - (j-1)/(j+k-1) in float32."""
    j = np.arange(1, len(down) + 1, dtype=np.float32)[:, None]
    k = np.arange(1, len(up) + 1, dtype=np.float32)
    margin = 2 * (up - down[:, None]) / len(down)
    return (j / (j + k) - (j - 1) / (j + k - 1) - margin.astype(np.float32)) / len(up)


def candidate(scores: Array, y: Array) -> Answer:
    """Inference with rounded gains; objective and coefficients in double precision."""
    with np.errstate(over="ignore", invalid="ignore"):  # beyond float32, inf - inf
        return sound.infer(scores, y, gains=gains)
