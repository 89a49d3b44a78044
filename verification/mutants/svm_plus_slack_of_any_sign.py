"""xi >= 0 is dropped as if that made no difference, also where it is asked for."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound

PROBLEM = "svm_plus_squared_hinge.primal"
ERRATA = ("xu_2016/nonnegative_slack",)


def candidate(**given: Any) -> dict[str, Any]:
    """The problem without xi >= 0."""
    return sound.primal(sound.train_plus({**given, "nonneg_slack": False}, True))
