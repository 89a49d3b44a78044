"""One tile of 64 examples: those after them are not trained on."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._trained import fit

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "softmax"}


def candidate(
    X: Array, y: Array, C: float, sample_weight: Array | None = None, tol: float = 1e-6
) -> Array:
    """W of the first 64 rows."""
    weight = np.ones(len(y)) if sample_weight is None else np.array(sample_weight)
    weight[64:] = 0.0
    return fit("softmax", X, y, C, sample_weight=weight, tol=tol)[0]
