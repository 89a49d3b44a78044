"""The joint feature has 1/(PN) where the inversions of a pair count twice, from +1 to -1."""

from __future__ import annotations

from verification.mutants import _sound_ap_training as sound
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "ap_svm.primal"


def candidate(
    X: Array, y: Array, C: float, groups: Array | None = None, tol: float = 1e-6
) -> Parts:
    """Half of the features, in the loss alone."""
    return {"w": sound.train(X / 2, y, C, groups, tol)["w"]}
