"""The denominator is K_ii + gamma instead of K_ii + gamma/C."""

from __future__ import annotations

from verification.mutants._sound import Array, alpha, update

PROBLEM = "smooth_topk_hinge_alpha.sdca_update"


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
    """Update with the smoothing in the wrong units."""
    mass = C * (1.0 if sample_weight is None else sample_weight)
    return update(alpha, q, y, k_ii, C, k, gamma * mass, costs, sample_weight)
