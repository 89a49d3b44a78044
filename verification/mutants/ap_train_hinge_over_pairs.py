"""Averages the hinge over the pairs of a positive and a negative: the area under the ROC curve."""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ap_training as sound
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "ap_svm.primal"


def infer(scores: Array, y: Array) -> tuple[float, Array, Array]:
    """The mean of max(0, 1 - s_p + s_n), and its slopes."""
    up, down = scores[y > 0], scores[y <= 0]
    slack = 1.0 - up[:, None] + down[None, :]
    active = slack > 0
    coefficients = np.zeros(len(y))
    coefficients[y > 0] = -active.sum(axis=1) / slack.size
    coefficients[y <= 0] = active.sum(axis=0) / slack.size
    return float(slack[active].sum()) / slack.size, active.sum(axis=1), coefficients


def candidate(
    X: Array, y: Array, C: float, groups: Array | None = None, tol: float = 1e-6
) -> Parts:
    """Train with it."""
    return {"w": sound.train(X, y, C, groups, tol, infer)["w"]}
