"""A bag is the mean of its candidates."""

from __future__ import annotations

import numpy as np

from verification.models import latent_ap_svm
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "latent_ap_svm.primal"


def candidate(X: Array, bags: Array, y: Array, C: float, tol: float = 1e-6) -> Parts:
    """One candidate per bag."""
    means = np.stack([X[bags == i].mean(axis=0) for i in range(len(y))])
    return {"w": latent_ap_svm.train(means, np.arange(len(y)), y, C, tol)["w"]}
