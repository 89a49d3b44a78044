"""The threshold is shifted by a relative 1e-9; the answer is feasible to the last bit."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, beta

PROBLEM = "smooth_topk_hinge_beta.gradient"


def candidate(
    scores: Array,
    y: int,
    k: int = 1,
    gamma: float = 1.0,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Gradient at margins a little too large."""
    f = np.asarray(scores, dtype=float)
    c = np.ones(f.size) if costs is None else np.asarray(costs, dtype=float)
    z = np.delete(f - f[y] + c, y) * (1 + 1e-9)
    x = beta(z / gamma, k, 1.0, 0.0) * (1.0 if sample_weight is None else sample_weight)
    return np.insert(x, y, -x.sum())
