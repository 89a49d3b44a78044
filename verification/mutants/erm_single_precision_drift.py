"""W is updated in float32 beside A, and drifts from X'A; it is never rebuilt."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._trained import Parts, fit

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "topk_hinge_alpha"}
ERRATA = ("libsdca/single_precision_drift",)


def candidate(
    X: Array, y: Array, C: float, k: int = 1, sample_weight: Array | None = None, tol: float = 1e-6
) -> Parts:
    """Pair whose halves have grown apart."""
    W, A = fit("topk_hinge_alpha", X, y, C, k, None, sample_weight, tol=tol)
    kept = W.astype(np.float32)
    rng = np.random.default_rng(0)
    for i in rng.integers(len(y), size=300):
        step = np.outer(rng.normal(size=len(W)) * C, X[i]).astype(np.float32)
        kept += step
        kept -= step
    return {"W": kept.astype(float), "A": A}
