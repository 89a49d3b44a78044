"""SVM1+ whose dual has C n on the right of its equation, whatever the examples weigh."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound

PROBLEM = "svm_plus_hinge.dual"


def candidate(**given: Any) -> dict[str, Any]:
    """All examples alike."""
    return sound.dual(sound.train_plus({**given, "sample_weight": None}, False))
