"""free_slack is accepted and ignored."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound

PROBLEM = "svm_plus_hinge.primal"


def candidate(**given: Any) -> dict[str, Any]:
    """No own slacks."""
    return sound.primal(sound.train_plus({**given, "free_slack": 0.0}, False))
