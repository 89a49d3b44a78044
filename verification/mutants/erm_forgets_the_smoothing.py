"""The smooth hinge is trained as the hinge that it smooths."""

from __future__ import annotations

from verification.mutants._sound import Array
from verification.mutants._trained import fit

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "smooth_topk_hinge_beta"}


def candidate(
    X: Array,
    y: Array,
    C: float,
    k: int = 1,
    gamma: float = 1.0,
    sample_weight: Array | None = None,
    tol: float = 1e-6,
) -> Array:
    """W for gamma = 0."""
    return fit("topk_hinge_beta", X, y, C, k, None, sample_weight, tol=tol)[0]
