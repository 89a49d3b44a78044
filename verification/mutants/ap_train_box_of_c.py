"""The box of the dual is C, not C/n."""

from __future__ import annotations

from verification.models.binary_svm import train
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "binary_svm.dual"
FIXED = {"bias": False}


def candidate(X: Array, y: Array, C: float, bias: bool | str = False, tol: float = 1e-6) -> Parts:
    """The multipliers for C n."""
    return {"alpha": train(X, y, C * len(y), bias, tol)["alpha"]}
