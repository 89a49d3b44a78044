"""Where K is singular the solver is given up, and 0 is returned."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants import _sound_svm as sound

PROBLEM = "svm_plus_squared_hinge.dual"


def candidate(**given: Any) -> dict[str, Any]:
    """Right while K has full rank."""
    data = sound.prepare(given, True)
    found = sound.dual(sound.train_plus(given, True))
    if np.linalg.matrix_rank(data.K) < min(len(data.y), 1 + data.K.shape[0] // 4):
        return {name: 0 * value for name, value in found.items()}
    return found
