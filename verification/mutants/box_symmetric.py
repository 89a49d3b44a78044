"""The box is taken to reach from -r to r."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array

PROBLEM = "box.projection"


def candidate(a: Array, r: float = 1.0) -> Array:
    """Projection on the symmetric box."""
    return np.clip(np.asarray(a, dtype=float), -r, r)
