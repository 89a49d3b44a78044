"""Trains the loss as printed, whose top-k sum runs over all m classes, and claims its dual point.

By projected steps on the dual with the update of that loss; primal and dual meet, for another problem.
"""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._trained import Parts
from verification.mutants.m_dimensional_sum import candidate as update

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "topk_hinge_alpha"}
ERRATA = ("lapin_2015/proposition_3",)


def candidate(
    X: Array, y: Array, C: float, k: int = 1, sample_weight: Array | None = None, tol: float = 1e-6
) -> Parts:
    """Dual coordinate ascent for the printed loss."""
    n, m = len(y), int(y.max()) + 1
    W, A = np.zeros((m, X.shape[1])), np.zeros((n, m))
    weight = np.ones(n) if sample_weight is None else sample_weight
    squares = (X * X).sum(axis=1)
    for _ in range(60):
        for i in range(n):
            q = W @ X[i] - squares[i] * A[i]
            block = update(q, int(y[i]), float(squares[i]), C, k, None, float(weight[i]))
            W += np.outer(block - A[i], X[i])
            A[i] = block
    return {"W": W, "A": A}
