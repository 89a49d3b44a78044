"""The entry after the k-th largest is read even if there is none: k = d raises."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, alpha, descending

PROBLEM = "topk_simplex_alpha.projection"


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection that looks one entry too far."""
    order = descending(np.asarray(a, dtype=float))
    if order[k - 1] - order[k] < 0:
        raise ValueError("not sorted")
    return alpha(a, k, r, rho)
