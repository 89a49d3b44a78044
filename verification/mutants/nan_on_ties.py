"""0/0 where the k-th and the next entry are equal."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, alpha, descending

PROBLEM = "topk_simplex_alpha.projection"


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection that interpolates between its k-th and its next breakpoint."""
    order = descending(np.asarray(a, dtype=float))
    x = alpha(a, k, r, rho)
    if k >= order.size:
        return x
    with np.errstate(invalid="ignore"):
        gap = order[k - 1] - order[k]
        return x * (gap / gap)
