"""The variants are swapped: beta where alpha is asked for; they are equal at k = 1."""

from __future__ import annotations

from verification.mutants._sound import Array
from verification.mutants._trained import fit

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "topk_hinge_alpha"}


def candidate(
    X: Array, y: Array, C: float, k: int = 1, sample_weight: Array | None = None, tol: float = 1e-6
) -> Array:
    """W of the other loss."""
    return fit("topk_hinge_beta", X, y, C, k, None, sample_weight, tol=tol)[0]
