"""A strict constraint, y f > 1, made of 1 and a little more."""

from __future__ import annotations

import numpy as np

from verification.models.ap_svm_appx import train
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "ap_svm_appx.primal"
ERRATA = ("mohapatra_2014/equation_10",)


def candidate(X: Array, y: Array, easy: Array, C: float, tol: float = 1e-6) -> Parts:
    """Margins of 1.001."""
    scaled = np.where(easy[:, None], X / 1.001, X)
    return {"w": train(scaled, y, easy, C, tol)["w"]}
