"""CA for both views."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array

PROBLEM = "svm_2k.dual"


def candidate(**given: Any) -> Array:
    """CB is ignored."""
    alpha: Array = sound.train_two_views({**given, "CB": given["CA"]})["alpha"]
    return alpha
