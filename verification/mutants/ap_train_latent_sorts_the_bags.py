"""The bags are sorted and the rows are not: right only where the candidates of a bag stand together."""

from __future__ import annotations

import numpy as np

from verification.models import latent_ap_svm
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "latent_ap_svm.primal"


def candidate(X: Array, bags: Array, y: Array, C: float, tol: float = 1e-6) -> Parts:
    """Train on candidates of other bags."""
    return {"w": latent_ap_svm.train(X, np.sort(bags), y, C, tol)["w"]}
