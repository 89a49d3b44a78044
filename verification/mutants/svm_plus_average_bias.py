"""The bias averaged over all points, support vectors or not."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array

PROBLEM = "svm_plus_squared_hinge.primal"
ERRATA = ("xu_2016/bias",)


def offset(y: Array, margins: Array, alpha: Array) -> float:
    """The mean of what each point would like."""
    return float((y * (1 - margins)).mean())


def candidate(**given: Any) -> dict[str, Any]:
    """A model with a b of its own."""
    return sound.primal(sound.train_plus(given, True, offset=offset))
