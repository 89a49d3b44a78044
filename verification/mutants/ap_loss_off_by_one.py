"""Delta counts one negative too many above every positive that has any."""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Array

PROBLEM = "average_precision.value"


def loss(counts: Array) -> float:
    """1 - AP of counts + 1."""
    return sound.delta(np.where(counts > 0, counts + 1, 0))


def candidate(scores: Array, y: Array) -> float:
    """Value of the right ranking with the wrong loss."""
    return sound.infer(scores, y, loss=loss)[0]
