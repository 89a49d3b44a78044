"""The multipliers of the easy examples leave out their balance, as if there were no bias."""

from __future__ import annotations

import numpy as np

from verification.models.ap_svm_appx import train
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "ap_svm_appx.dual"


def candidate(X: Array, y: Array, easy: Array, C: float, tol: float = 1e-6) -> Parts:
    """One kind of multipliers, doubled."""
    found = train(X, y, easy, C, tol)
    mu = np.where(y > 0, 2 * found["mu"], found["mu"])
    return {"rankings": found["rankings"], "weights": found["weights"], "mu": mu}
