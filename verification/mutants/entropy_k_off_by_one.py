"""The caps are s/(k-1): k counted from 0."""

from __future__ import annotations

from verification.mutants._sound import Array
from verification.mutants._sound_entropy import margins, value

PROBLEM = "topk_entropy_alpha.value"


def candidate(
    scores: Array,
    y: int,
    k: int = 1,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> float:
    """Value for another k."""
    weight = 1.0 if sample_weight is None else sample_weight
    return weight * value(margins(scores, y, costs), max(k - 1, 1), True)
