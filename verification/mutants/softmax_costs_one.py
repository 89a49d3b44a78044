"""Softmax with the hinges' margin of 1 where no costs are given."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._sound_entropy import margins, value

PROBLEM = "softmax.value"


def candidate(
    scores: Array, y: int, costs: Array | None = None, sample_weight: float | None = None
) -> float:
    """Value with costs of 1 by default."""
    if costs is None:
        costs = np.ones(len(scores))
        costs[y] = 0.0
    weight = 1.0 if sample_weight is None else sample_weight
    return weight * value(margins(scores, y, costs), 1, True)
