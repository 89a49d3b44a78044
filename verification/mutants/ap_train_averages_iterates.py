"""Returns the average of its iterates with the rankings of the last one."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants import _sound_ap_training as sound
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "ap_svm.primal"


def candidate(
    X: Array, y: Array, C: float, groups: Array | None = None, tol: float = 1e-6
) -> Parts:
    """The mean of the points that inference was asked at."""
    seen: list[Array] = []

    def keep(state: Any) -> bool:
        seen.append(np.array(state.w))
        return False

    found = sound.train(X, y, C, groups, tol, report=keep)
    return found | {"w": np.mean(seen, axis=0) if seen else found["w"]}
