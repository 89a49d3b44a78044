"""Examples with K_ii = 0 are skipped, which leaves their share of the gap for ever."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, alpha, update

PROBLEM = "topk_hinge_alpha.sdca_update"
ERRATA = ("libsdca/zero_rows",)


def candidate(
    q: Array,
    y: int,
    k_ii: float,
    C: float = 1.0,
    k: int = 1,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Update that leaves zero rows at zero."""
    if k_ii == 0:
        return np.zeros(len(q))
    return update(alpha, q, y, k_ii, C, k, 0.0, costs, sample_weight)
