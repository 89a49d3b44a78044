"""delta is added to the kernel of x, not to that of z."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants import _sound_svm as sound

PROBLEM = "svm_plus_squared_hinge.dual"


def candidate(**given: Any) -> dict[str, Any]:
    """One matrix for another."""
    data = sound.prepare({**given, "free_slack": 0.0}, True)
    data.K = data.K + given["free_slack"] * np.eye(len(data.y))
    return sound.dual(sound.train_plus({}, True, data=data))
