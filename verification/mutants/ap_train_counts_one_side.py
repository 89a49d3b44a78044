"""Rankings hold the negatives above each positive, and zeros for the negatives."""

from __future__ import annotations

from verification.mutants import _sound_ap_training as sound
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "ap_svm.dual"


def candidate(
    X: Array, y: Array, C: float, groups: Array | None = None, tol: float = 1e-6
) -> Parts:
    """Half of the inversions."""
    found = sound.train(X, y, C, groups, tol)
    return {"rankings": found["rankings"] * (y > 0), "weights": found["weights"]}
