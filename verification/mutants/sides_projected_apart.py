"""Each side of the bipartite simplex is projected by itself; their sums differ."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, beta

PROBLEM = "bipartite_simplex.projection"


def candidate(a: Array, y: Array, r: float = 1.0) -> Array:
    """Projection that forgets what ties the two sides."""
    a, inside = np.asarray(a, dtype=float), np.asarray(y) == 1
    out = np.zeros(a.size)
    if r == 0 or inside.all() or not inside.any():
        return out
    for side in (inside, ~inside):
        out[side] = beta(a[side], 1, r, 0.0)
    return out
