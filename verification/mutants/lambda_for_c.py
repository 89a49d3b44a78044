"""The regularisation weight is taken for C: a block of radius 1/C."""

from __future__ import annotations

from verification.mutants._sound import Array, alpha, update

PROBLEM = "multiclass_hinge.sdca_update"


def candidate(
    q: Array,
    y: int,
    k_ii: float,
    C: float = 1.0,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Update in the units of lambda n."""
    return update(alpha, q, y, k_ii, 1.0 / C, 1, 0.0, costs, sample_weight)
