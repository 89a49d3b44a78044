"""At most one entry is found to be at its cap: the search for U takes one step."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._sound_entropy import log_sum, margins, softplus

PROBLEM = "topk_entropy_beta.value"


def candidate(
    scores: Array,
    y: int,
    k: int = 1,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> float:
    """Value with |U| <= 1."""
    z = -np.sort(-margins(scores, y, costs))
    cap = min(log_sum(np.append(z[u:], 0.0)) - np.log(k - u) for u in range(min(k, 2)))
    extra = float(np.maximum(z - cap, 0.0).sum()) / k
    weight = 1.0 if sample_weight is None else sample_weight
    return float(weight * (softplus(log_sum(np.minimum(z, cap))) + extra))
