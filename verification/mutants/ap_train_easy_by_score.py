"""Keeps the half of the easy examples with the highest scores, which are positives, not margins."""

from __future__ import annotations

import numpy as np

from verification.models import binary_svm
from verification.models.ap_svm_appx import train
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "ap_svm_appx.primal"
ERRATA = ("mohapatra_2014/easy_samples",)


def candidate(X: Array, y: Array, easy: Array, C: float, tol: float = 1e-6) -> Parts:
    """The rest of the easy examples is ranked with the difficult ones."""
    scores = X @ binary_svm.train(X, y, C, False, 1e-2)["w"]
    chosen = np.flatnonzero(easy)
    kept = np.zeros(len(y), dtype=bool)
    kept[chosen[np.argsort(-scores[chosen], kind="stable")][: (len(chosen) + 1) // 2]] = True
    return {"w": train(X, y, kept, C, tol)["w"]}
