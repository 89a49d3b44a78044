"""SVM1+ without xi >= 0, because SVM2+ does without."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound

PROBLEM = "svm_plus_hinge.dual"
ERRATA = ("xu_2016/nonnegative_slack",)


def candidate(**given: Any) -> dict[str, Any]:
    """No multipliers of xi >= 0."""
    return sound.dual(sound.train_plus({**given, "nonneg_slack": False}, False))
