"""The smooth loss is made the upper bound on the top-k error that it is said to be: at least 1 at an error.

The smooth losses are no such bounds; where err_k = 1 their infimum is 1 - gamma/(2k).
"""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, beta, descending

PROBLEM = "smooth_topk_hinge_beta.value"
ERRATA = ("lapin_2016/smooth_losses_are_no_bounds",)


def candidate(
    scores: Array,
    y: int,
    k: int = 1,
    gamma: float = 1.0,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> float:
    """Value, raised to the error where it is below."""
    f = np.asarray(scores, dtype=float)
    c = np.ones(f.size) if costs is None else np.asarray(costs, dtype=float)
    u = np.delete(f - f[y], y)
    z = np.delete(f - f[y] + c, y)
    p = beta(z, k, gamma, 0.0)
    error = 1.0 if descending(u)[k - 1] >= 0 else 0.0
    weight = 1.0 if sample_weight is None else sample_weight
    return weight * max(float((z @ p - p @ p / 2) / gamma), error)
