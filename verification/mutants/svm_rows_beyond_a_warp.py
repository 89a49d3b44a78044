"""Working sets of one warp: the multipliers of the examples after the first 32 stay zero."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array

PROBLEM = "svm.dual"


def candidate(**given: Any) -> Array:
    """Right for up to 32 examples."""
    alpha: Array = sound.train_plain(given)["alpha"]
    alpha[32:] = 0.0
    return alpha
