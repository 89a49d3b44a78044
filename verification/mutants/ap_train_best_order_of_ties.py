"""Ties count for the positives: at w = 0 it sees no loss and is content."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "ap_svm.primal"
ERRATA = ("mohapatra_2014/ties",)


def candidate(
    X: Array, y: Array, C: float, groups: Array | None = None, tol: float = 1e-6
) -> Parts:
    """Weights 0, where the best order of the ties has an AP of 1."""
    return {"w": np.zeros(X.shape[1])}
