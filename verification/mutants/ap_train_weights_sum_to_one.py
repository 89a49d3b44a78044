"""The weights of the rankings are those of the simplex, without the factor C."""

from __future__ import annotations

from verification.mutants import _sound_ap_training as sound
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "ap_svm.dual"


def candidate(
    X: Array, y: Array, C: float, groups: Array | None = None, tol: float = 1e-6
) -> Parts:
    """The right rankings, scaled."""
    found = sound.train(X, y, C, groups, tol)
    return {"rankings": found["rankings"], "weights": found["weights"] / C}
