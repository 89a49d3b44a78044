"""P and N of the joint feature count the easy examples too."""

from __future__ import annotations

import numpy as np

from verification.models.ap_svm_appx import train
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "ap_svm_appx.primal"


def candidate(X: Array, y: Array, easy: Array, C: float, tol: float = 1e-6) -> Parts:
    """The scores of the difficult ones weigh less by the quotient of the pairs."""
    hard = y[~easy]
    mine, all_of_them = hard.sum() * (len(hard) - hard.sum()), y.sum() * (len(y) - y.sum())
    share = mine / all_of_them if mine else 1.0
    scaled = np.where(easy[:, None], X, share * X)
    return {"w": train(scaled, y, easy, C, tol)["w"]}
