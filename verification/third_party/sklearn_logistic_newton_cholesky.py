"""``LogisticRegression(solver="newton-cholesky")``, default settings, as a trained softmax."""

from verification.adapters import trained
from verification.third_party._sklearn import logistic

PROBLEM = "multiclass_erm.primal"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "softmax", "tol": 1e-3}
FOUND = """In the default settings 97 of 99 models are within 1e-3 of the optimum. Two, separable
with C = 1000, are up to 9 % off, without a warning, for the same reason as with
`sklearn_logistic_lbfgs`. With ``tol=1e-8`` the worst relative gap is 8e-10."""
REPRODUCE = """
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

x, y, C = np.array([-10.0, 10.0]), np.array([-1, 1]), 1e5
model = LogisticRegression(C=C, solver="newton-cholesky", fit_intercept=False, random_state=0)
with warnings.catch_warnings():
    warnings.simplefilter("error")
    w = model.fit(x[:, None], y).coef_[0, 0]


def objective(w):
    return w * w / 2 + C * np.log1p(np.exp(-y * w * x)).sum()


returned = objective(w)
right = min(objective(w) for w in np.linspace(0, 20, 20001))
"""


candidate = trained(logistic(solver="newton-cholesky"), PROBLEM)
