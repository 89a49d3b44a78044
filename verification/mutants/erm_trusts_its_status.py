"""L-BFGS until its own test says "converged", at a tolerance on the gradient that is often the default.

A stopping rule of that kind bounds no suboptimality: the same number is 1e-8 off here and 1e-3 there.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp

from verification.mutants._sound import Array

PROBLEM = "multiclass_erm.primal"
FIXED = {"loss": "softmax"}
ERRATA = ("liblinear/tolerance",)


def candidate(
    X: Array, y: Array, C: float, sample_weight: Array | None = None, tol: float = 1e-6
) -> Array:
    """W at which the solver was content."""
    n, m = len(y), int(y.max()) + 1
    weight = np.ones(n) if sample_weight is None else sample_weight

    def objective(flat: Array) -> tuple[float, Array]:
        W = flat.reshape(m, -1)
        scores = X @ W.T
        logs = logsumexp(scores, axis=1)
        P = weight[:, None] * np.exp(scores - logs[:, None])
        P[np.arange(n), y] -= weight
        loss = weight @ (logs - scores[np.arange(n), y])
        # divided by C n, as in the libraries that average the losses
        return (loss + W.ravel() @ W.ravel() / (2 * C)) / n, ((P.T @ X + W / C) / n).ravel()

    found = minimize(
        objective, np.zeros(m * X.shape[1]), jac=True, method="L-BFGS-B", options={"gtol": 1e-3}
    )
    return np.asarray(found.x).reshape(m, -1)
