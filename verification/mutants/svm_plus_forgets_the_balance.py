"""The equation <alpha,y> = 0 is forgotten, as if there were no b."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array, Data

PROBLEM = "svm_plus_squared_hinge.dual"


def solve(data: Data, Q: Array) -> tuple[Array, Array, float]:
    """Alpha >= 0 and nothing else."""
    y = data.y
    n = len(y)
    H = data.K * np.outer(y, y) + Q
    none = np.zeros((1, n))
    none[0, 0] = 1e-12
    even = np.ones(n) / max(float(np.ones(n) @ H @ np.ones(n)), 1e-300) * n
    found = sound.qp(H, np.ones(n), none, np.zeros(1), even, most=40)
    return found.x, np.zeros(n), 0.0


def candidate(**given: Any) -> dict[str, Any]:
    """Multipliers of another problem."""
    return sound.dual(sound.train_plus(given, True, solve=solve))
