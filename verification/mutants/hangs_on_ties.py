"""The search for the threshold needs one entry strictly above it and the next one below: at ties it never ends."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, beta, descending

PROBLEM = "topk_simplex_beta.projection"
TIMEOUT = 0.3


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection by a walk that may go round in circles."""
    order = descending(np.asarray(a, dtype=float))
    i = 0
    while order.size > 1 and not order[i] > order[i + 1]:
        i = (i + 1) % (order.size - 1)
    return beta(a, k, r, rho)
