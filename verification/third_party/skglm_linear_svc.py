"""``skglm.LinearSVC``, default settings but for its intercept: coordinate descent in the dual with working sets."""

from typing import Any

from verification.adapters import trained

PROBLEM = "binary_svm.primal"
PACKAGES = ("skglm",)
FIXED = {"bias": False, "tol": 1e-3}
DEFECT = "``skglm.LinearSVC`` trains data of one class as if it were the other one."
FOUND = """Every model of two classes is within 1e-3 of the optimum, separable data and huge C included. Data of one
class, which scikit-learn's estimators refuse, are trained as if it were the negative one, whatever its
label: w points away from them. The documentation says nothing of it."""
REPRODUCE = """
import warnings

import numpy as np
from skglm import LinearSVC

X, y = np.array([[1.0], [2.0]]), np.array([1, 1])


def objective(w):
    return w * w / 2 + np.maximum(0, 1 - X[:, 0] * w).sum()


with warnings.catch_warnings(action="ignore"):  # about speed
    w = LinearSVC(C=1.0, fit_intercept=False).fit(X, y).coef_[0, 0]
returned = objective(w)
right = objective(1.0)
"""


def make(C: float, n: int) -> Any:
    """Their C sums over the examples."""
    from skglm import LinearSVC

    return LinearSVC(C=C / n, fit_intercept=False)


candidate = trained(make, PROBLEM, read={"w": lambda model: model.coef_.ravel()})
