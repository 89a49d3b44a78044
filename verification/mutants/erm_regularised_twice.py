"""The regulariser is lambda ||W||^2 where the objective has half of it."""

from __future__ import annotations

from verification.mutants._sound import Array
from verification.mutants._trained import Parts, fit

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "topk_hinge_alpha"}
ERRATA = ("lapin_2016/regulariser",)


def candidate(
    X: Array, y: Array, C: float, k: int = 1, sample_weight: Array | None = None, tol: float = 1e-6
) -> Parts:
    """Train for another C."""
    W = fit("topk_hinge_alpha", X, y, C / 2, k, None, sample_weight, tol=tol)[0]
    return {"W": W}
