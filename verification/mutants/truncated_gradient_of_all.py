"""The gradient is spread over all classes: softmax, where k - 1 of them do not count."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._sound_entropy import gradient

PROBLEM = "truncated_topk_entropy.gradient"


def candidate(
    scores: Array,
    y: int,
    k: int = 1,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Gradient of the softmax loss."""
    return np.asarray(gradient(scores, y, 1, True, costs, sample_weight)[0])
