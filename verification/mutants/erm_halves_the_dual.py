"""The right W with a dual point that is not its: claimed as a certificate."""

from __future__ import annotations

from verification.mutants._sound import Array
from verification.mutants._trained import Parts, fit

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "softmax"}


def candidate(
    X: Array, y: Array, C: float, sample_weight: Array | None = None, tol: float = 1e-6
) -> Parts:
    """A pair that certifies less than it says."""
    W, A = fit("softmax", X, y, C, None, None, sample_weight, tol=tol)
    return {"W": W, "A": A / 2}
