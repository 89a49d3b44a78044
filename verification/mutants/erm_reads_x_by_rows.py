"""X in Fortran order, as a data frame has it, is read as if it were in C order."""

from __future__ import annotations

from verification.mutants._sound import Array
from verification.mutants._trained import fit

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "topk_hinge_beta"}


def candidate(
    X: Array, y: Array, C: float, k: int = 1, sample_weight: Array | None = None, tol: float = 1e-6
) -> Array:
    """Train on the memory behind X."""
    behind = X.ravel(order="K").reshape(X.shape)
    return fit("topk_hinge_beta", behind, y, C, k, None, sample_weight, tol=tol)[0]
