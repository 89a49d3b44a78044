"""squeeze() at the end: a batch of one row comes back without its first axis."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, alpha

PROBLEM = "topk_simplex_alpha.projection"


def candidate(a: Array, k: int, r: float | Array = 1.0, rho: float | Array = 0.0) -> Array:
    """Projection of every row, of one row as a vector."""
    rows = np.atleast_2d(np.asarray(a, dtype=float))
    radii, rhos = np.broadcast_to(r, len(rows)), np.broadcast_to(rho, len(rows))
    found = [alpha(rows[i], k, radii[i], rhos[i]) for i in range(len(rows))]
    return found[0] if len(found) == 1 else np.stack(found)
