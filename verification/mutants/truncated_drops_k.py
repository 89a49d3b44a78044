"""The k largest margins are dropped instead of k - 1."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._sound_entropy import log_sum, margins, softplus

PROBLEM = "truncated_topk_entropy.value"


def candidate(
    scores: Array,
    y: int,
    k: int = 1,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> float:
    """Value on one class too few."""
    z = np.sort(margins(scores, y, costs))
    weight = 1.0 if sample_weight is None else sample_weight
    rest = z[: z.size - k]
    return weight * softplus(log_sum(rest)) if rest.size else 0.0
