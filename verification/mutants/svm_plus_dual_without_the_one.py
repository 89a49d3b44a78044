"""The multipliers of k(z, z') where k(z, z') + 1 belongs: feasible, and not optimal."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array, Data

PROBLEM = "svm_plus_squared_hinge.dual"
ERRATA = ("xu_2016/correcting_kernel",)


def kernel(data: Data) -> Array:
    """Kz + delta I."""
    return data.Kz + data.delta * np.eye(len(data.y))


def candidate(**given: Any) -> dict[str, Any]:
    """Multipliers of another problem."""
    return sound.dual(sound.train_plus(given, True, kernel=kernel))
