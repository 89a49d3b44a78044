"""f = <w,x> - b is meant, f = <w,x> + b is said: the bias has the other sign."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound

PROBLEM = "svm_plus_squared_hinge.primal"


def candidate(**given: Any) -> dict[str, Any]:
    """All right but for the sign of b."""
    found = sound.primal(sound.train_plus(given, True))
    return {**found, "b": -found["b"]}
