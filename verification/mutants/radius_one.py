"""The dual block is projected on the unit set: 1/(lambda n) was taken for 1."""

from __future__ import annotations

from verification.mutants._sound import Array, alpha, update

PROBLEM = "topk_hinge_alpha.sdca_update"


def candidate(
    q: Array,
    y: int,
    k_ii: float,
    C: float = 1.0,
    k: int = 1,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Update with the wrong radius."""
    return update(alpha, q, y, k_ii, 1.0, k, 0.0, costs, sample_weight)
