"""``SGDClassifier(loss="hinge")``, default settings but for its intercept: a linear SVM."""

from typing import Any

from verification.adapters import trained

PROBLEM = "binary_svm.primal"
PACKAGES = ("scikit-learn",)
FIXED = {"bias": False, "tol": 1e-3}
REFUSES = ("ValueError",)
FOUND = """Stops when the loss of an epoch, taken along the way, has not fallen by 1e-3 for five epochs: 77 of 157
models are further than 1e-3 from the optimum, half of them by more than a few per cent, none with a
warning. The rule bounds the progress, not the distance, and the documentation says so."""
REPRODUCE = """
import warnings

import numpy as np
from sklearn.linear_model import SGDClassifier

X, y, C = np.array([[2.0], [-1.0], [0.5]]), np.array([1, -1, -1]), 100.0
model = SGDClassifier(loss="hinge", alpha=1 / C, fit_intercept=False, random_state=0)
with warnings.catch_warnings(action="error"):
    w = model.fit(X, y).coef_[0, 0]


def objective(w):
    return w * w / 2 + C * np.maximum(0, 1 - y * (X[:, 0] * w)).mean()


returned, right = objective(w), min(objective(w) for w in np.linspace(0, 3, 3001))
"""


def make(C: float) -> Any:
    """alpha/2 ||w||^2 plus the mean."""
    from sklearn.linear_model import SGDClassifier

    return SGDClassifier(loss="hinge", alpha=1 / C, fit_intercept=False, random_state=0)


candidate = trained(make, PROBLEM, read={"w": lambda model: model.coef_[0]})
