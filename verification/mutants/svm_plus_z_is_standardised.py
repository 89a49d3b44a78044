"""Z is standardised in silence, and v belongs to that Z."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants import _sound_svm as sound

PROBLEM = "svm_plus_squared_hinge.primal"


def candidate(**given: Any) -> dict[str, Any]:
    """Another correcting space, where there are features."""
    Z = given["Z"]
    if Z is not None:
        spread = Z.std(axis=0)
        given["Z"] = (Z - Z.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    return sound.primal(sound.train_plus(given, True))
