"""``sample_weight or 1.0``: wrong only for weight 0, which is taken for a missing one."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, alpha

PROBLEM = "smooth_topk_hinge_alpha.gradient"


def candidate(
    scores: Array,
    y: int,
    k: int = 1,
    gamma: float = 1.0,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Gradient with Python's idea of nothing."""
    f = np.asarray(scores, dtype=float)
    c = np.ones(f.size) if costs is None else np.asarray(costs, dtype=float)
    z = np.delete(f - f[y] + c, y)
    x = alpha(z / gamma, k, 1.0, 0.0) * (sample_weight or 1.0)
    return np.insert(x, y, -x.sum())
