"""0/0 where all labels are on one side."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array

PROBLEM = "bipartite_simplex.projection"


def candidate(a: Array, y: Array, r: float = 1.0) -> Array:
    """Projection that shares out over both sides."""
    import fast

    inside = np.asarray(y) == 1
    x = fast.sets.bipartite_simplex.project(a, y, r)
    if inside.all() or not inside.any():
        return np.full(len(a), np.nan)
    return x
