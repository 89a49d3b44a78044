"""The sample weight scales the block but not the curvature alpha = w C K_ii."""

from __future__ import annotations

from verification.mutants._sound import Array
from verification.mutants._sound_entropy import update

PROBLEM = "softmax.sdca_update"


def candidate(
    q: Array,
    y: int,
    k_ii: float,
    C: float = 1.0,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Update of another step length."""
    weight = 1.0 if sample_weight is None else sample_weight
    return weight * update(q, y, k_ii, C, 1, True, costs, None)[0]
