"""The bias is the weight of a feature 1, and 1/2 b^2 is paid for it, as in liblinear."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array, Data

PROBLEM = "svm.primal"


def solve(data: Data) -> Array:
    """Alpha without the equation <alpha,y> = 0, kernel K + 1."""
    y, n = data.y, len(data.y)
    H = (data.K + 1) * np.outer(y, y)
    upper = None if data.squared else data.cost
    if data.squared:
        H = H + np.diag(1 / data.cost)
    none = np.zeros((1, n))
    none[0, 0] = 1e-12
    start = np.full(n, n / max(float(np.ones(n) @ H @ np.ones(n)), 1e-300))
    start = start if upper is None else np.minimum(start, upper / 2)
    return sound.qp(H, np.ones(n), none, np.zeros(1), start, upper, most=40).x


def candidate(**given: Any) -> dict[str, Any]:
    """The w of that problem, and its b."""
    data = sound.prepare(given, given["loss"] == "squared_hinge")
    found = sound.train_plain(given, solve=solve)
    return {"w": found["w"], "b": float((found["alpha"][data.kept] * data.y).sum())}
