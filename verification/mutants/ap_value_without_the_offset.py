"""Delta + <s, Psi(R)> at the most violated ranking, without the score of the right one."""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Array

PROBLEM = "average_precision.value"


def candidate(scores: Array, y: Array) -> float:
    """Value plus <s, Psi(R*)>, the mean difference of a positive and a negative."""
    scores = np.asarray(scores, dtype=float)
    return sound.infer(scores, y)[0] + scores[y > 0].mean() - scores[y <= 0].mean()
