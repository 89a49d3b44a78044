"""``LogisticRegression(solver="sag")``, default settings, as a trained softmax."""

from verification.adapters import trained
from verification.third_party._sklearn import logistic

PROBLEM = "multiclass_erm.primal"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "softmax", "tol": 1e-3}
REFUSES = ("ZeroDivisionError",)
FOUND = """As `sklearn_logistic_saga`: in the default settings 12 models end up to 85 % off, each with a
ConvergenceWarning after 100 epochs. On data that are all zero it refuses by a ZeroDivisionError, where the
other solvers return 0."""
REPRODUCE = """
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

x, y, C = np.array([-10.0, 10.0]), np.array([-1, 1]), 1000.0
model = LogisticRegression(C=C, solver="sag", fit_intercept=False, random_state=0)
with warnings.catch_warnings(action="ignore"):
    w = model.fit(x[:, None], y).coef_[0, 0]


def objective(w):
    return w * w / 2 + C * np.log1p(np.exp(-y * w * x)).sum()


returned = objective(w)
right = min(objective(w) for w in np.linspace(0, 20, 20001))
"""


candidate = trained(logistic(solver="sag", random_state=0), PROBLEM)
