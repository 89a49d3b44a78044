"""Another offset: the value is measured from the ranking by score instead of the perfect one.

The "loss" can be negative, as in libraries that maximise Delta + <s, Psi> over a sample of rankings.
"""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Array

PROBLEM = "average_precision.value"
ERRATA = ("ap_libraries/negative_losses",)


def candidate(scores: Array, y: Array) -> float:
    """Value less the mean error of the sampled orders."""
    scores = np.asarray(scores, dtype=float)
    order = np.argsort(-scores, kind="stable")
    above = np.cumsum(y[order] <= 0)[y[order] > 0]
    return sound.infer(scores, y)[0] - sound.delta(above)
