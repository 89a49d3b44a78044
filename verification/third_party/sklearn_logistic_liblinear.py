"""``LogisticRegression(solver="liblinear")`` per class, default settings, as one-vs-all logistics."""

from typing import Any

import numpy as np

from verification.adapters import trained

PROBLEM = "multiclass_erm.primal"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "ova_logistic", "tol": 1e-3}
FOUND = """In the default settings 98 of 99 models are within 1e-3 of the optimum, separable data
included; one, with C = 1000, is 0.3 % off, without a warning. Of the solvers in their default
settings this is the most accurate."""
REPRODUCE = """
import numpy as np
from sklearn.linear_model import LogisticRegression

X, y, C = np.array([[5.0, 6.0], [0.0, -4.0]]), np.array([1, -1]), 1000.0
model = LogisticRegression(C=C, solver="liblinear", fit_intercept=False, random_state=0)


def objective(w):
    return w @ w / 2 + C * np.log1p(np.exp(-y * (X @ w))).sum()


returned = objective(model.fit(X, y).coef_[0])
right = objective(np.array([0.041108635835681445, 1.917196475395318]))
"""


def make(C: float) -> Any:
    """One binary model per class, without its (penalised) intercept."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.multiclass import OneVsRestClassifier

    return OneVsRestClassifier(
        LogisticRegression(C=C, solver="liblinear", fit_intercept=False, random_state=0)
    )


def rows(model: Any) -> np.ndarray:
    """One row per class; two classes have one model, and its negative."""
    W = np.vstack([each.coef_ for each in model.estimators_])
    return W if len(W) > 1 else np.vstack([-W, W])


candidate = trained(make, PROBLEM, read={"W": rows})
