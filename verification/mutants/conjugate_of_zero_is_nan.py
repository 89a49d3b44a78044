"""0 log 0 is computed as it stands: NaN at the vertices of the simplex."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array

PROBLEM = "softmax.conjugate"


def candidate(x: Array, costs: Array | None = None) -> float:
    """Conjugate without its limits."""
    x = np.asarray(x, dtype=float)
    s = x.sum()
    if (x < 0).any() or s > 1:
        return float("inf")
    with np.errstate(divide="ignore", invalid="ignore"):
        entropy = x @ np.log(x) + (1 - s) * np.log(1 - s)
    return float(entropy - (0.0 if costs is None else np.dot(costs, x)))
