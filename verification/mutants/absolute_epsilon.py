"""Whatever is below 1e-9 counts as zero, at every scale."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, descending, unbounded

PROBLEM = "topk_cone.projection"
ERRATA = ("libsdca/absolute_epsilons",)


def candidate(a: Array, k: int, rho: float = 0.0) -> Array:
    """Projection with a literal tolerance."""
    if descending(np.asarray(a, dtype=float))[:k].sum() <= 1e-9:
        return np.zeros(len(a))
    return unbounded(a, k, rho)
