"""The conjugate drops (1-s) log(1-s): that of the loss without the ground truth's 1."""

from __future__ import annotations

import numpy as np
from scipy.special import xlogy

from verification.mutants._sound import Array

PROBLEM = "topk_entropy_beta.conjugate"


def candidate(x: Array, k: int = 1, costs: Array | None = None) -> float:
    """Conjugate of half the entropy."""
    x = np.asarray(x, dtype=float)
    if (x < 0).any() or x.sum() > 1 or (x > 1 / k).any():
        return float("inf")
    return float(xlogy(x, x).sum() - (0.0 if costs is None else np.dot(costs, x)))
