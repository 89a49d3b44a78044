"""A negative that ties with a positive stays below it: ties are broken in favour of the scores."""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Array

PROBLEM = "average_precision.value"
ERRATA = ("mohapatra_2014/ties",)


def gains(up: Array, down: Array) -> Array:
    """No gain from a tie."""
    return np.where(up == down[:, None], 0.0, sound.gains(up, down))


def candidate(scores: Array, y: Array) -> float:
    """Value of the ranking that is best by these gains."""
    return sound.infer(scores, y, gains=gains)[0]
