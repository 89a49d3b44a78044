"""The dual is returned in units of lambda n: without its factor C."""

from __future__ import annotations

from verification.mutants._sound import Array
from verification.mutants._trained import fit

PROBLEM = "multiclass_erm.dual"
FIXED = {"loss": "ova_hinge"}


def candidate(
    X: Array, y: Array, C: float, sample_weight: Array | None = None, tol: float = 1e-6
) -> Array:
    """A/C."""
    _, A = fit("ova_hinge", X, y, C, None, None, sample_weight, tol=tol)
    return A / C
