"""``LinearSVC(loss="hinge")`` with its intercept, as what it is: the weight of a constant feature."""

from typing import Any

from verification.adapters import trained
from verification.third_party._sklearn import linear_svc

PROBLEM = "binary_svm.primal"
PACKAGES = ("scikit-learn",)
FIXED = {"bias": True, "tol": 1e-3}
REFUSES = ("ValueError",)
DEFECT = "``LinearSVC`` stops at 20 times the optimum on small features, without a warning."
FOUND = """Judged as the model that it is, with the intercept as the weight of a constant feature, 18 of 157 models
miss 1e-3. On features of size 1e-6, C large enough to matter, it stops beside w = 0, at an objective of up
to 20 times the optimum, without a warning: the shrinking and the stopping rule are in units of the
gradient, and w has to be 1e6."""
REPRODUCE = """
import warnings

import numpy as np
from sklearn.svm import LinearSVC

X, y, C = 1e-6 * np.eye(2), np.array([1, -1]), 1e13
with warnings.catch_warnings(action="error"):
    model = LinearSVC(C=C, loss="hinge", random_state=0).fit(X, y)


def objective(w, b):
    return (w @ w + b * b) / 2 + C * np.maximum(0, 1 - y * (X @ w + b)).sum()


returned = objective(model.coef_[0], model.intercept_[0])
right = objective(np.array([1e6, -1e6]), 0.0)  # both margins are 1
"""


def make(C: float, n: int) -> Any:
    """Our C multiplies the mean."""
    return linear_svc(loss="hinge", fit_intercept=True)(C / n)


candidate = trained(make, PROBLEM)
