"""The ground truth is treated as one more wrong class: its score is pushed down."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array

PROBLEM = "ova_hinge.gradient"


def candidate(
    scores: Array, y: int, costs: Array | None = None, sample_weight: float | None = None
) -> Array:
    """Subgradient of the loss with no right class."""
    z = np.asarray(scores, dtype=float) + (1.0 if costs is None else costs)
    weight = 1.0 if sample_weight is None else sample_weight
    return np.where(z > 0, weight, 0.0)
