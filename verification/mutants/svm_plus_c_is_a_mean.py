"""C/n: the loss is a mean, as in Pegasos, and C multiplies a sum."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound

PROBLEM = "svm_plus_squared_hinge.primal"


def candidate(**given: Any) -> dict[str, Any]:
    """C of a mean."""
    return sound.primal(sound.train_plus({**given, "C": given["C"] / len(given["y"])}, True))
