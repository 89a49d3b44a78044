"""The denominator of the one-vs-all update is K_ii + gamma instead of K_ii + gamma/C."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array

PROBLEM = "ova_smooth_hinge.sdca_update"


def candidate(
    q: Array,
    y: int,
    k_ii: float,
    C: float = 1.0,
    gamma: float = 1.0,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Update with the smoothing in the wrong units."""
    signs = np.ones(len(q))
    signs[y] = -1.0
    z = signs * np.asarray(q, dtype=float) + (1.0 if costs is None else costs)
    radius = C * (1.0 if sample_weight is None else sample_weight)
    return np.asarray(-signs * np.clip(z / (k_ii + gamma), 0.0, radius))
