"""The sample weight scales neither the radius nor the smoothing."""

from __future__ import annotations

from verification.mutants._sound import Array, beta, update

PROBLEM = "smooth_topk_hinge_beta.sdca_update"


def candidate(
    q: Array,
    y: int,
    k_ii: float,
    C: float = 1.0,
    k: int = 1,
    gamma: float = 1.0,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Unweighted update."""
    return update(beta, q, y, k_ii, C, k, gamma, costs, None)
