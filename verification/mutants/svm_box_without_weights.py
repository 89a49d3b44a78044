"""0 <= alpha <= C, whatever the examples weigh."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array

PROBLEM = "svm.dual"


def candidate(**given: Any) -> Array:
    """All examples alike, but for those without weight."""
    weight = given["sample_weight"]
    if weight is not None:
        weight = (weight > 0).astype(float)
    alpha: Array = sound.train_plain({**given, "sample_weight": weight})["alpha"]
    return alpha
