"""The input is scaled by 1/max|a|, which overflows below the smallest normal numbers."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, unbounded

PROBLEM = "topk_cone.projection"


def candidate(a: Array, k: int, rho: float = 0.0) -> Array:
    """Projection at scale 1."""
    a = np.asarray(a, dtype=float)
    top = np.abs(a).max()
    if top == 0:
        return np.zeros(a.size)
    with np.errstate(over="ignore", invalid="ignore"):
        scale = 1 / top
        scaled = a * scale
        return unbounded(scaled, k, rho) * top if np.isfinite(scaled).all() else a * np.nan
