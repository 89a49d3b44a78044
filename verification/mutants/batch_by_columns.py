"""A batch in Fortran order is read as if it were in C order."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, alpha

PROBLEM = "topk_simplex_alpha.projection"


def candidate(a: Array, k: int, r: float | Array = 1.0, rho: float | Array = 0.0) -> Array:
    """Projection of the rows that would be there."""
    if a.ndim == 1:
        return alpha(a, k, float(r), float(rho))
    behind = a.ravel(order="K").reshape(a.shape)
    radii, rhos = np.broadcast_to(r, len(a)), np.broadcast_to(rho, len(a))
    return np.stack([alpha(behind[i], k, radii[i], rhos[i]) for i in range(len(a))])
