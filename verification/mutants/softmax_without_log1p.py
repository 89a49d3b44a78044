"""Log(1 + e^v) is taken literally: a loss of 1e-17 comes out as 0, one of 1e-12 with four digits."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._sound_entropy import log_sum, margins

PROBLEM = "softmax.value"


def candidate(
    scores: Array, y: int, costs: Array | None = None, sample_weight: float | None = None
) -> float:
    """Value without log1p."""
    weight = 1.0 if sample_weight is None else sample_weight
    v = log_sum(margins(scores, y, costs))
    return weight * (max(v, 0.0) + float(np.log(1.0 + np.exp(-abs(v)))))
