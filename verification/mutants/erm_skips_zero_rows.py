"""Examples with x_i = 0 keep a_i = 0: W is right, and the gap never closes."""

from __future__ import annotations

from verification.mutants._sound import Array
from verification.mutants._trained import Parts, fit

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "topk_hinge_alpha"}
ERRATA = ("libsdca/zero_rows",)


def candidate(
    X: Array, y: Array, C: float, k: int = 1, sample_weight: Array | None = None, tol: float = 1e-6
) -> Parts:
    """Pair with the share of the zero rows missing in its dual."""
    W, A = fit("topk_hinge_alpha", X, y, C, k, None, sample_weight, tol=tol)
    A[~X.any(axis=1)] = 0.0
    return {"W": W, "A": A}
