"""W comes with a column per class, where a row per class is asked for."""

from __future__ import annotations

from verification.mutants._sound import Array
from verification.mutants._trained import fit

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "softmax"}


def candidate(
    X: Array, y: Array, C: float, sample_weight: Array | None = None, tol: float = 1e-6
) -> Array:
    """W'."""
    return fit("softmax", X, y, C, None, None, sample_weight, tol=tol)[0].T
