"""Only f_A > f_B is held against the views: beta >= 0."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array

PROBLEM = "svm_2k.dual"


def beta(up: Array, down: Array) -> tuple[Array, Array]:
    """The positive part."""
    return np.maximum(up - down, 0), 0 * up


def candidate(**given: Any) -> Array:
    """Beta of one sign."""
    alpha: Array = sound.train_two_views(given, beta=beta)["alpha"]
    return alpha
