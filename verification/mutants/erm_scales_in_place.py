"""The data are scaled in place and scaled back: W is right, X has changed by rounding."""

from __future__ import annotations

from verification.mutants._sound import Array
from verification.mutants._trained import fit

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "softmax"}


def candidate(
    X: Array, y: Array, C: float, sample_weight: Array | None = None, tol: float = 1e-6
) -> Array:
    """W, at the price of X."""
    X /= 3.0
    W, _ = fit("softmax", X, y, 9.0 * C, None, None, sample_weight, tol=tol)
    X *= 3.0
    return W / 3.0
