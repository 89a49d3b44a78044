"""The two views are trained alone: D = 0."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound

PROBLEM = "svm_2k.primal"


def candidate(**given: Any) -> dict[str, Any]:
    """Two SVMs that do not know of each other."""
    return sound.primal(sound.train_two_views({**given, "D": 0.0}))
