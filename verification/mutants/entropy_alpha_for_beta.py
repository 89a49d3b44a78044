"""The sets are swapped: the update of the alpha entropy where beta is asked for."""

from __future__ import annotations

from verification.mutants._sound import Array
from verification.mutants._sound_entropy import update

PROBLEM = "topk_entropy_beta.sdca_update"


def candidate(
    q: Array,
    y: int,
    k_ii: float,
    C: float = 1.0,
    k: int = 1,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Update of the other entropy."""
    return update(q, y, k_ii, C, k, True, costs, sample_weight)[0]
