"""Input and sums are kept in float32 although the input is float64."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, beta

PROBLEM = "topk_simplex_beta.projection"


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection of the rounded vector."""
    return beta(np.asarray(a, dtype=np.float32), k, r, rho)
