"""Twenty epochs of coordinate ascent, whatever the gap is then."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, alpha, update
from verification.mutants._trained import Parts

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "multiclass_hinge"}


def candidate(
    X: Array, y: Array, C: float, sample_weight: Array | None = None, tol: float = 1e-6
) -> Parts:
    """Stop early."""
    n, m = len(y), int(y.max()) + 1
    W, A = np.zeros((m, X.shape[1])), np.zeros((n, m))
    weight = np.ones(n) if sample_weight is None else sample_weight
    squares = (X * X).sum(axis=1)
    for _ in range(20):
        for i in range(n):
            q = W @ X[i] - squares[i] * A[i]
            mass = (1, 0.0, None, float(weight[i]))
            block = update(alpha, q, int(y[i]), float(squares[i]), C, *mass)
            W += np.outer(block - A[i], X[i])
            A[i] = block
    return {"W": W, "A": A}
