"""``scipy.optimize.minimize(method="L-BFGS-B")`` on the softmax objective with its gradient, default settings."""

from typing import Any

import numpy as np

PROBLEM = "multiclass_erm.primal"
PACKAGES = ("scipy",)
FIXED = {"loss": "softmax", "tol": 1e-3}
FOUND = """Every model is within 4.1e-6 of the optimum: a tolerance that is relative to the objective, 2.2e-9, is the
right kind. scikit-learn, which calls the same code with a bound on the gradient instead, ends far off
(`sklearn_logistic_lbfgs`)."""


def candidate(X: Any, y: Any, C: float) -> dict[str, Any]:
    """From the origin; ``ftol`` is 2.2e-9, relative to the objective."""
    from scipy.optimize import minimize
    from scipy.special import logsumexp, softmax

    n, m = len(y), int(y.max()) + 1
    truth = np.eye(m)[y]

    def objective(flat: Any) -> tuple[float, Any]:
        W = flat.reshape(m, -1)
        scores = X @ W.T
        losses = logsumexp(scores, axis=1) - scores[np.arange(n), y]
        slope = W + C * (softmax(scores, axis=1) - truth).T @ X
        return (W**2).sum() / 2 + C * losses.sum(), slope.ravel()

    found = minimize(objective, np.zeros(m * X.shape[1]), jac=True, method="L-BFGS-B")
    return {"W": found.x.reshape(m, -1)}
