"""A randomised search that gives up in one call out of forty, with the point that it has then."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, beta

PROBLEM = "topk_simplex_beta.projection"

_rng = np.random.default_rng(0)


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection that is right most of the time."""
    x = beta(a, k, r, rho)
    return x * 0.5 if _rng.random() < 1 / 40 else x
