"""Wrong at ties only: every margin equal to the k-th largest gets mass 1/k, however many there are."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, descending

PROBLEM = "topk_hinge_beta.gradient"


def candidate(
    scores: Array,
    y: int,
    k: int = 1,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Subgradient by a threshold."""
    f = np.asarray(scores, dtype=float)
    c = np.ones(f.size) if costs is None else np.asarray(costs, dtype=float)
    z = np.delete(f - f[y] + c, y)
    x = np.where((z >= descending(z)[k - 1]) & (z > 0), 1.0 / k, 0.0)
    x *= 1.0 if sample_weight is None else sample_weight
    return np.insert(x, y, -x.sum())
