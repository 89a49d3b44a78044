"""Positives and negatives are swapped: the wrong labels are to win."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array

PROBLEM = "multilabel_hinge.gradient"


def candidate(
    scores: Array, y: Array, costs: Array | None = None, sample_weight: float | None = None
) -> Array:
    """Subgradient of the loss of the complementary labels."""
    f, inside = np.asarray(scores, dtype=float), np.asarray(y) == 0
    g = np.zeros(f.size)
    if inside.all() or not inside.any():
        return g
    c = np.where(inside, 0.0, 1.0) if costs is None else np.asarray(costs, dtype=float)
    z = np.where(inside, -f, f) + c
    low = int(np.argmax(np.where(inside, -np.inf, z)))
    high = int(np.argmax(np.where(inside, z, -np.inf)))
    if z[low] + z[high] > 0:
        g[low], g[high] = 1.0, -1.0
    return g * (1.0 if sample_weight is None else sample_weight)
