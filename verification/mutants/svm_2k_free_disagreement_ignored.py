"""eps is accepted and ignored: every disagreement costs."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound

PROBLEM = "svm_2k.primal"


def candidate(**given: Any) -> dict[str, Any]:
    """No eps."""
    return sound.primal(sound.train_two_views({**given, "eps": 0.0}))
