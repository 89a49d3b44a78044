"""Alpha and beta of SVM1+ have changed places."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound

PROBLEM = "svm_plus_hinge.dual"


def candidate(**given: Any) -> dict[str, Any]:
    """Beta first."""
    found = sound.train_plus(given, False)
    return {"alpha": found["beta"], "beta": found["alpha"]}
