"""The dual is returned with the sign of the other convention."""

from __future__ import annotations

from verification.mutants._sound import Array
from verification.mutants._trained import fit

PROBLEM = "multiclass_erm.dual"
FIXED = {"loss": "topk_entropy_alpha"}


def candidate(
    X: Array, y: Array, C: float, k: int = 1, sample_weight: Array | None = None, tol: float = 1e-6
) -> Array:
    """-A."""
    _, A = fit("topk_entropy_alpha", X, y, C, k, None, sample_weight, tol=tol)
    return -A
