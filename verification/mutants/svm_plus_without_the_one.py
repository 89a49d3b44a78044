"""The correcting kernel without its 1: g(z) = <v,z>, and rho = 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array, Data

PROBLEM = "svm_plus_squared_hinge.primal"
ERRATA = ("xu_2016/correcting_kernel",)


def kernel(data: Data) -> Array:
    """Kz + delta I."""
    return data.Kz + data.delta * np.eye(len(data.y))


def candidate(**given: Any) -> dict[str, Any]:
    """A model without rho."""
    return {**sound.primal(sound.train_plus(given, True, kernel=kernel)), "rho": 0.0}
