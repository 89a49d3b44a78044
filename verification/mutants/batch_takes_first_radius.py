"""In a batch all rows get the radius and the rho of the first one."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, alpha

PROBLEM = "topk_simplex_alpha.projection"


def candidate(a: Array, k: int, r: float | Array = 1.0, rho: float | Array = 0.0) -> Array:
    """Projection, right for single vectors."""
    a = np.asarray(a, dtype=float)
    first_r, first_rho = float(np.ravel(r)[0]), float(np.ravel(rho)[0])
    if a.ndim == 1:
        return alpha(a, k, first_r, first_rho)
    return np.stack([alpha(row, k, first_r, first_rho) for row in a])
