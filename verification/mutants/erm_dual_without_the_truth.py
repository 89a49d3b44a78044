"""The dual has no entry for the ground truth: its rows do not sum to 0."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._trained import fit

PROBLEM = "multiclass_erm.dual"
FIXED = {"loss": "multiclass_hinge"}


def candidate(
    X: Array, y: Array, C: float, sample_weight: Array | None = None, tol: float = 1e-6
) -> Array:
    """Blocks of the other classes only."""
    _, A = fit("multiclass_hinge", X, y, C, None, None, sample_weight, tol=tol)
    A[np.arange(len(y)), y] = 0.0
    return A
