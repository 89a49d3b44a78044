"""The easy examples are ranked with the others besides being constraints."""

from __future__ import annotations

import numpy as np

from verification.models.ap_svm_appx import train
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "ap_svm_appx.primal"


def candidate(X: Array, y: Array, easy: Array, C: float, tol: float = 1e-6) -> Parts:
    """Train on the difficult and the easy, and keep the constraints."""
    twice, labels = np.vstack([X, X[easy]]), np.append(y, y[easy])
    mask = np.append(np.zeros(len(y), dtype=bool), np.ones(int(easy.sum()), dtype=bool))
    return {"w": train(twice, labels, mask, C, tol)["w"]}
