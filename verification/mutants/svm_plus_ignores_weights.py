"""sample_weight is accepted and ignored."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound

PROBLEM = "svm_plus_squared_hinge.primal"


def candidate(**given: Any) -> dict[str, Any]:
    """All examples alike."""
    return sound.primal(sound.train_plus({**given, "sample_weight": None}, True))
