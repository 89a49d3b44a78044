"""The columns are centred first, as for a bias that the model does not have."""

from __future__ import annotations

from verification.mutants._sound import Array
from verification.mutants._trained import fit

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "softmax"}


def candidate(
    X: Array, y: Array, C: float, sample_weight: Array | None = None, tol: float = 1e-6
) -> Array:
    """W of other data."""
    return fit("softmax", X - X.mean(axis=0), y, C, None, None, sample_weight, tol=tol)[0]
