"""A thousandth is added to the diagonal of the Gram matrix, to be safe."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._trained import fit

PROBLEM = "multiclass_erm.dual"
FIXED = {"loss": "multiclass_hinge"}


def candidate(
    y: Array, C: float, K: Array | None, X: Array | None = None, sample_weight: Array | None = None
) -> Array:
    """A of another kernel."""
    if K is not None:
        K = K + 1e-3 * np.eye(len(K))
    return fit("multiclass_hinge", X, y, C, None, None, sample_weight, K)[1]
