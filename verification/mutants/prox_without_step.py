"""The prox projects on the dual set without dividing by t: a unit step whatever t is."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, beta

PROBLEM = "topk_hinge_beta.prox"


def candidate(v: Array, k: int = 1, t: float = 1.0, costs: Array | None = None) -> Array:
    """Prox that is right at t = 1 only."""
    v = np.asarray(v, dtype=float)
    c = np.ones(v.size) if costs is None else np.asarray(costs, dtype=float)
    return v - t * beta(v + c, k, 1.0, 0.0)
