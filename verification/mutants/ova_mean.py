"""The mean of the binary losses instead of their sum."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array

PROBLEM = "ova_hinge.value"


def candidate(
    scores: Array, y: int, costs: Array | None = None, sample_weight: float | None = None
) -> float:
    """Value divided by the number of classes."""
    z = np.array(scores, dtype=float)
    z[y] = -z[y]
    z += 1.0 if costs is None else costs
    weight = 1.0 if sample_weight is None else sample_weight
    return float(weight * np.maximum(z, 0).mean())
