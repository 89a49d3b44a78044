"""Reads the memory behind the array as it comes: wrong for views with gaps between their entries."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, unbounded

PROBLEM = "topk_cone.projection"


def candidate(a: Array, k: int, rho: float = 0.0) -> Array:
    """Projection of the entries that follow the first one in memory."""
    behind = a if a.base is None or a.flags.c_contiguous else np.asarray(a.base).ravel()[: a.size]
    return unbounded(behind, k, rho)
