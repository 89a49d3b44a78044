"""Stops at the first negative that belongs below all positives, although none are sorted.

Right for negatives by descending score; a pass over the input must look at every one.
"""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ranking as sound
from verification.mutants._sound_ranking import Answer, Array

PROBLEM = "average_precision.loss_augmented_inference"


def candidate(scores: Array, y: Array) -> Answer:
    """Inference that never looks at the negatives after the first inactive one."""
    scores = np.asarray(scores, dtype=float)
    up, down = sound.positions(scores, y)
    opt = sound.ranks(sound.gains(scores[up], scores[down]))
    rank = dict(zip(down.tolist(), opt.tolist(), strict=True))
    inactive = [i for i in np.flatnonzero(y <= 0).tolist() if rank[i] == len(up) + 1]
    seen = [i for i in down.tolist() if not inactive or i <= inactive[0]]
    cut = np.array([rank[i] if i in seen else len(up) + 1 for i in down.tolist()])
    return sound.answer(scores, y, up, down, cut)
