"""Moves weight between rankings without minding the sign."""

from __future__ import annotations

import numpy as np

from verification.mutants import _sound_ap_training as sound
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "ap_svm.dual"


def candidate(
    X: Array, y: Array, C: float, groups: Array | None = None, tol: float = 1e-6
) -> Parts:
    """C more on the first ranking, C less on the right one."""
    found = sound.train(X, y, C, groups, tol)
    right = np.zeros((1, len(y)), dtype=np.int64)
    rankings = np.vstack([found["rankings"], found["rankings"][:1], right])
    return {"rankings": rankings, "weights": np.append(found["weights"], [C, -C])}
