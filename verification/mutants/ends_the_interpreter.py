"""The process ends in the middle of a call, as after a segmentation fault, where k is the length."""

from __future__ import annotations

import os

from verification.mutants._sound import Array, beta

PROBLEM = "topk_simplex_beta.projection"
ISOLATE = True


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection that gives up for all."""
    if k == len(a) > 2:
        os._exit(11)
    return beta(a, k, r, rho)
