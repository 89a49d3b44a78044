"""Wrong only above 32 entries: the active ones are collected in a buffer of 32."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, beta

PROBLEM = "topk_simplex_beta.projection"


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection of the 32 largest entries."""
    a = np.asarray(a, dtype=float)
    x = np.zeros(a.size)
    kept = np.argsort(-a, kind="stable")[:32]
    x[kept] = beta(a[kept], k, r, rho)
    return x
