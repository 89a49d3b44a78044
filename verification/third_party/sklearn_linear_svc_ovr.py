"""``LinearSVC(loss="hinge")``, default settings: one hinge SVM per class."""

from typing import Any

import numpy as np

from verification.adapters import trained
from verification.adapters.estimators import class_rows
from verification.third_party._sklearn import linear_svc

PROBLEM = "multiclass_erm.primal"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "ova_hinge", "tol": 1e-3}
FOUND = """In the default settings 109 of 124 models are within 1e-3 of the optimum; 15 are not, among them
separable data, data of a large scale and images of digits; liblinear's ConvergenceWarning came 15 times in all."""
REPRODUCE = """
import warnings

import numpy as np
from sklearn.svm import LinearSVC

X, y, C = np.array([[1.0, 10.0], [-1.0, 10.0]]), np.array([1, -1]), 100.0
with warnings.catch_warnings(action="ignore"):
    w = LinearSVC(C=C, loss="hinge", fit_intercept=False, random_state=0).fit(X, y).coef_[0]


def objective(w):
    return w @ w / 2 + C * np.maximum(0, 1 - y * (X @ w)).sum()


returned, right = objective(w), objective(np.array([1.0, 0.0]))
"""


def rows(model: Any) -> np.ndarray:
    """Of two classes, each has a problem of its own."""
    return class_rows(model, of_two=1.0)


candidate = trained(linear_svc(loss="hinge"), PROBLEM, read={"W": rows})
