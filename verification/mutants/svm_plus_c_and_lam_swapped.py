"""C and lam have changed places."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound

PROBLEM = "svm_plus_squared_hinge.dual"


def candidate(**given: Any) -> dict[str, Any]:
    """C for lam, and lam for C."""
    return sound.dual(sound.train_plus({**given, "C": given["lam"], "lam": given["C"]}, True))
