"""Softmax exponentiates the scores as they are: e^710 overflows."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._sound_entropy import margins

PROBLEM = "softmax.value"


def candidate(
    scores: Array, y: int, costs: Array | None = None, sample_weight: float | None = None
) -> float:
    """Value without the shift by the maximum."""
    weight = 1.0 if sample_weight is None else sample_weight
    with np.errstate(over="ignore"):
        return float(weight * np.log1p(np.exp(margins(scores, y, costs)).sum()))
