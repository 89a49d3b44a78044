"""The two sides share the curvature: K_ii/2 in the update of the smooth multilabel hinge."""

from __future__ import annotations

from verification.mutants._sound import Array

PROBLEM = "multilabel_smooth_hinge.sdca_update"


def candidate(
    q: Array,
    y: Array,
    k_ii: float,
    C: float = 1.0,
    gamma: float = 1.0,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Update of another step length."""
    import fast

    update = fast.losses.multilabel_smooth_hinge.sdca_update
    return update(q, y, k_ii / 2, C, gamma=gamma, costs=costs, sample_weight=sample_weight)
