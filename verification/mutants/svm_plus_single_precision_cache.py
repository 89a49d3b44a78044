"""K and Q are kept in float32, as in LIBSVM's cache: the gap has a floor."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array, Data

PROBLEM = "svm_plus_squared_hinge.dual"
ERRATA = ("libsvm/single_precision_cache",)


def inverse(data: Data, kernel: Array) -> Array:
    """Q of 24 bits."""
    data.K = data.K.astype(np.float32).astype(float)
    return sound.deformed(data, kernel).astype(np.float32).astype(float)


def candidate(**given: Any) -> dict[str, Any]:
    """Multipliers from the cache."""
    return sound.dual(sound.train_plus(given, True, inverse=inverse))
