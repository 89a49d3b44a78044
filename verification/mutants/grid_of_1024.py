"""Entries beyond 1024 are never written: the kernel has no loop over blocks."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, beta

PROBLEM = "topk_simplex_beta.projection"


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Right up to 1024 entries."""
    x = beta(np.asarray(a, dtype=float), k, r, rho)
    x[1024:] = 0.0
    return x
