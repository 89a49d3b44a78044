"""(5) in float32: Q has no right digit from C/lam = 1e5 on."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array, Data

PROBLEM = "svm_plus_squared_hinge.primal"
ERRATA = ("xu_2016/cancellation",)


def inverse(data: Data, kernel: Array) -> Array:
    """As printed, in half of the digits."""
    kernel = kernel.astype(np.float32)
    inner = np.linalg.solve(np.diag(data.lam / data.cost).astype(np.float32) + kernel, kernel)
    Q = ((kernel - kernel @ inner) / np.float32(data.lam)).astype(float)
    return (Q + Q.T) / 2


def candidate(**given: Any) -> dict[str, Any]:
    """Model of the wrong Q."""
    return sound.primal(sound.train_plus(given, True, inverse=inverse))
