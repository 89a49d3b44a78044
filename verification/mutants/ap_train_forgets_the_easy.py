"""The easy examples are left out of the ranking, and their constraints forgotten."""

from __future__ import annotations

from verification.models.ap_svm_appx import train
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "ap_svm_appx.primal"


def candidate(X: Array, y: Array, easy: Array, C: float, tol: float = 1e-6) -> Parts:
    """Train on the difficult examples."""
    hard = ~easy
    return {"w": train(X[hard], y[hard], easy[hard], C, tol)["w"] if hard.any() else 0.0 * X[0]}
