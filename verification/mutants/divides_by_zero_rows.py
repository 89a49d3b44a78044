"""b = (q - q_y + c)/K_ii without a look at K_ii = 0."""

from __future__ import annotations

from verification.mutants._sound import Array, beta, update

PROBLEM = "topk_hinge_beta.sdca_update"


def candidate(
    q: Array,
    y: int,
    k_ii: float,
    C: float = 1.0,
    k: int = 1,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Update that raises at zero rows."""
    scale = 1.0 / k_ii
    x = update(beta, q, y, k_ii, C, k, 0.0, costs, sample_weight)
    return x * (scale * k_ii > 0)
