"""SVM1+ that stops after eight steps, however far it has come."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array, Data

PROBLEM = "svm_plus_hinge.primal"


def solve(data: Data, Q: Array) -> tuple[Array, Array, float]:
    """As the sound one, but for the number of steps."""
    most = sound.qp.__defaults__
    assert most is not None
    sound.qp.__defaults__ = (*most[:-1], 8)
    try:
        return sound.solve_plus(data, Q)
    finally:
        sound.qp.__defaults__ = most


def candidate(**given: Any) -> dict[str, Any]:
    """A model that is about right."""
    return sound.primal(sound.train_plus(given, False, solve=solve))
