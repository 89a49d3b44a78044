"""The smooth loss is computed as the loss it smooths: off by gamma/(2k) at most."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, descending

PROBLEM = "smooth_topk_hinge_alpha.value"


def candidate(
    scores: Array,
    y: int,
    k: int = 1,
    gamma: float = 1.0,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> float:
    """Value for gamma = 0."""
    f = np.asarray(scores, dtype=float)
    c = np.ones(f.size) if costs is None else np.asarray(costs, dtype=float)
    z = np.delete(f - f[y] + c, y)
    weight = 1.0 if sample_weight is None else sample_weight
    return float(weight * max(0.0, descending(z)[:k].sum() / k))
