"""Wrong only on the second call: the margins are added up in the array of costs."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array

PROBLEM = "multiclass_hinge.gradient"


def candidate(
    scores: Array, y: int, costs: Array | None = None, sample_weight: float | None = None
) -> Array:
    """Subgradient that writes where it reads."""
    f = np.asarray(scores, dtype=float)
    z = np.ones(f.size) if costs is None else np.asarray(costs)
    z += (f - f[y]).astype(z.dtype)
    g = np.zeros(f.size)
    best = int(np.argmax(np.where(np.arange(f.size) == y, -np.inf, z)))
    if z[best] > 0:
        g[best] = 1.0 if sample_weight is None else sample_weight
        g[y] = -g[best]
    return g
