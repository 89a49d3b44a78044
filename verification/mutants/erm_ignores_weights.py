"""The sample weights are not used."""

from __future__ import annotations

from verification.mutants._sound import Array
from verification.mutants._trained import fit

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "multiclass_hinge"}


def candidate(
    X: Array, y: Array, C: float, sample_weight: Array | None = None, tol: float = 1e-6
) -> Array:
    """Unweighted W."""
    return fit("multiclass_hinge", X, y, C, None, None, None, tol=tol)[0]
