"""(5) as it is printed, inverse and all: Q = (Kt - Kt (lam/C W^-1 + Kt)^-1 Kt)/lam, which cancels."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array, Data

PROBLEM = "svm_plus_squared_hinge.dual"
ERRATA = ("xu_2016/cancellation",)


def inverse(data: Data, kernel: Array) -> Array:
    """A difference of nearly equal matrices."""
    middle = np.linalg.inv(np.diag(data.lam / data.cost) + kernel)
    Q = (kernel - kernel @ middle @ kernel) / data.lam
    return (Q + Q.T) / 2


def candidate(**given: Any) -> dict[str, Any]:
    """Multipliers of the wrong Q."""
    return sound.dual(sound.train_plus(given, True, inverse=inverse))
