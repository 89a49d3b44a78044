"""Moreau's identity stops half way: the prox of the conjugate, not of the loss."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, beta

PROBLEM = "multiclass_hinge.prox"


def candidate(v: Array, t: float = 1.0, costs: Array | None = None) -> Array:
    """The other half of v."""
    v = np.asarray(v, dtype=float)
    c = np.ones(v.size) if costs is None else np.asarray(costs, dtype=float)
    return t * beta((v + c) / t, 1, 1.0, 0.0)
