"""The input is shifted in place and shifted back: it changes by rounding, and only sometimes."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, beta

PROBLEM = "simplex.projection"


def candidate(a: Array, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection that tidies up after itself, nearly."""
    if a.dtype.kind != "f" or r == 0:
        return np.zeros(len(a))
    top = a.max()
    a -= top
    x = beta(a - a.min() + r, 1, r, 0.0)
    a += top
    return x
