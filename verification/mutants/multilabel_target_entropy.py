"""The value adds the entropy log |P| of the target: that of the divergence's other half."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._sound_entropy import log_sum

PROBLEM = "multilabel_entropy.value"


def candidate(
    scores: Array, y: Array, costs: Array | None = None, sample_weight: float | None = None
) -> float:
    """Divergence instead of cross-entropy."""
    f, inside = np.asarray(scores, dtype=float), np.asarray(y) == 1
    z = f + (0.0 if costs is None else costs)
    weight = 1.0 if sample_weight is None else sample_weight
    return float(weight * (log_sum(z) - f[inside].mean() - np.log(inside.sum())))
