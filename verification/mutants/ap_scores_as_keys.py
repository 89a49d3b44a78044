"""Wrong for duplicated scores only: the ranks are kept by score, and the last one of equals is used for all."""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Answer, Array

PROBLEM = "average_precision.loss_augmented_inference"


def candidate(scores: Array, y: Array) -> Answer:
    """Inference with a dictionary of scores."""
    scores = np.asarray(scores, dtype=float)
    up, down = sound.positions(scores, y)
    opt = sound.ranks(sound.gains(scores[up], scores[down]))
    by_score = dict(zip(scores[down].tolist(), opt.tolist(), strict=True))
    return sound.answer(scores, y, up, down, np.array([by_score[s] for s in scores[down].tolist()]))
