"""C multiplies the sum of the hinges of the binary SVM, not their mean."""

from __future__ import annotations

from verification.models.binary_svm import train
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "binary_svm.primal"
FIXED = {"bias": False}


def candidate(X: Array, y: Array, C: float, bias: bool | str = False, tol: float = 1e-6) -> Parts:
    """Train for C n."""
    found = train(X, y, C * len(y), bias, tol)
    return {"w": found["w"], "b": found["b"]}
