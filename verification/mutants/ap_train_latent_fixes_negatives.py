"""Negative bags are fixed at a candidate too, as if they were positive."""

from __future__ import annotations

import numpy as np

from verification.models import latent_ap_svm
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "latent_ap_svm.primal"


def candidate(X: Array, bags: Array, y: Array, C: float, tol: float = 1e-6) -> Parts:
    """Only their first candidate remains."""
    first = np.unique(bags, return_index=True)[1]
    kept = np.flatnonzero((y[bags] > 0) | np.isin(np.arange(len(bags)), first))
    return {"w": latent_ap_svm.train(X[kept], bags[kept], y, C, tol)["w"]}
