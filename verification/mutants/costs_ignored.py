"""Wrong only where costs are given: the margin is 1 all the same."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, alpha

PROBLEM = "topk_hinge_alpha.prox"


def candidate(v: Array, k: int = 1, t: float = 1.0, costs: Array | None = None) -> Array:
    """Prox for unit costs."""
    v = np.asarray(v, dtype=float)
    return v - t * alpha((v + 1.0) / t, k, 1.0, 0.0)
