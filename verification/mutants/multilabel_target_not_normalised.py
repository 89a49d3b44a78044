"""The target is 1 on every positive label instead of 1/|P|."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._sound_entropy import log_sum

PROBLEM = "multilabel_entropy.gradient"


def candidate(
    scores: Array, y: Array, costs: Array | None = None, sample_weight: float | None = None
) -> Array:
    """P - y."""
    z = np.asarray(scores, dtype=float) + (0.0 if costs is None else costs)
    weight = 1.0 if sample_weight is None else sample_weight
    return np.asarray(weight * (np.exp(z - log_sum(z)) - y))
