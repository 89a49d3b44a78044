"""``LogisticRegression(solver="newton-cg")``, default settings, as a trained softmax."""

from verification.adapters import trained
from verification.third_party._sklearn import logistic

PROBLEM = "multiclass_erm.primal"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "softmax", "tol": 1e-3}
FOUND = """In the default settings 111 of 113 models are within 1e-3 of the optimum. Two, separable or of a tiny scale
with a large C, are up to 2.5 % off, without a warning, for the reason given at `sklearn_logistic_lbfgs`."""
REPRODUCE = """
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

x, y, C = np.array([-10.0, 10.0]), np.array([-1, 1]), 1e5
model = LogisticRegression(C=C, solver="newton-cg", fit_intercept=False, random_state=0)
with warnings.catch_warnings(action="error"):
    w = model.fit(x[:, None], y).coef_[0, 0]


def objective(w):
    return w * w / 2 + C * np.log1p(np.exp(-y * w * x)).sum()


returned = objective(w)
right = min(objective(w) for w in np.linspace(0, 20, 20001))
"""


candidate = trained(logistic(solver="newton-cg"), PROBLEM)
