"""w and b are scaled until all margins hold, v and rho are not."""

from __future__ import annotations

from typing import Any

from verification.mutants import _sound_svm as sound

PROBLEM = "svm_plus_squared_hinge.primal"


def candidate(**given: Any) -> dict[str, Any]:
    """The w of one multiple, the v of another."""
    found = sound.primal(sound.train_plus(given, True))
    return {**found, "w": 1.01 * found["w"], "b": 1.01 * found["b"]}
