"""A vector of one entry comes back as a number: squeezed."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, beta

PROBLEM = "simplex.projection"


def candidate(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection without its axis of length one."""
    a = np.asarray(a, dtype=float)
    if r == 0:
        return np.squeeze(np.zeros(a.size))
    return np.squeeze(beta(a - a.min() + r, 1, r, 0.0))
