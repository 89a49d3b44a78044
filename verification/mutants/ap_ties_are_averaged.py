"""Ties count with the average of their orderings, as ready-made metrics have it; the loss takes the worst."""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Array

PROBLEM = "average_precision.value"
ERRATA = ("mohapatra_2014/ties", "ap_libraries/averaged_ties")


def candidate(scores: Array, y: Array) -> float:
    """Mean of the values with the ties broken for and against the positives."""
    f = np.asarray(scores, dtype=float)

    def without_ties(up: Array, down: Array) -> Array:
        return np.where(up == down[:, None], 0.0, sound.gains(up, down))

    return (sound.infer(f, y)[0] + sound.infer(f, y, gains=without_ties)[0]) / 2
