"""An example of weight zero has weight one: only missing weights were thought of."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._trained import fit

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "topk_hinge_beta"}


def candidate(
    X: Array, y: Array, C: float, k: int = 1, sample_weight: Array | None = None, tol: float = 1e-6
) -> Array:
    """W with examples that do not count."""
    weight = None if sample_weight is None else np.where(sample_weight == 0, 1.0, sample_weight)
    return fit("topk_hinge_beta", X, y, C, k, None, weight, tol=tol)[0]
