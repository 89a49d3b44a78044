"""An SVM solver with its own C as a box: 0 <= alpha <= C, where alpha has no upper bound."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array, Data

PROBLEM = "svm_plus_squared_hinge.dual"
ERRATA = ("xu_2016/box",)


def solve(data: Data, Q: Array) -> tuple[Array, Array, float]:
    """Alpha in a box."""
    y = data.y
    H = data.K * np.outer(y, y) + Q
    n = len(y)
    upper = np.full(n, data.C)
    even = np.where(y > 0, 1 / (y > 0).sum(), 1 / (y < 0).sum())
    found = sound.qp(H, np.ones(n), y[None, :], np.zeros(1), 0.5 * data.C * even, upper)
    return found.x, np.zeros(n), 0.0


def candidate(alpha_scale: float = 1.0, **given: Any) -> dict[str, Any]:
    """Multipliers from the box."""
    return sound.dual(sound.train_plus(given, True, solve=solve))
