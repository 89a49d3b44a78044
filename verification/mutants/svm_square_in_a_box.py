"""The squared hinge is given the box of the hinge."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array, Data

PROBLEM = "svm.dual"


def solve(data: Data) -> Array:
    """Alpha <= C w_i for both losses."""
    alpha = sound.solve_plain(data)
    if not data.squared:
        return alpha
    y = data.y
    H = data.K * np.outer(y, y) + np.diag(1 / data.cost)
    start = np.minimum(alpha, data.cost) / 2
    return sound.qp(H, np.ones(len(y)), y[None, :], np.zeros(1), start, data.cost / 4).x


def candidate(**given: Any) -> Array:
    """Multipliers from the box."""
    alpha: Array = sound.train_plain(given, solve=solve)["alpha"]
    return alpha
