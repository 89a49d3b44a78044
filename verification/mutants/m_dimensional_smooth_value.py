"""The smooth loss as printed, over all m classes: a larger dual set, hence a larger loss."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants.m_dimensional_sum import printed

PROBLEM = "smooth_topk_hinge_alpha.value"
ERRATA = ("lapin_2015/proposition_3",)


def candidate(
    scores: Array,
    y: int,
    k: int = 1,
    gamma: float = 1.0,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> float:
    """Value of another loss."""
    f = np.asarray(scores, dtype=float)
    c = np.ones(f.size) if costs is None else np.asarray(costs, dtype=float)
    z = np.delete(f - f[y] + c, y)
    p = printed(z, k, gamma, 0.0)
    weight = 1.0 if sample_weight is None else sample_weight
    return float(weight * (z @ p - p @ p / 2) / gamma)
