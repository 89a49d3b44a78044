"""``LogisticRegression(solver="lbfgs")``, default settings, as a trained softmax."""

from verification.adapters import trained
from verification.third_party._sklearn import logistic

PROBLEM = "multiclass_erm.primal"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "softmax", "tol": 1e-3}
FOUND = """In the default settings 95 of 99 models are within 1e-3 of the optimum. The four
others, separable data with C of 100 and more and one of C = 4e5, are up to 5 % off, without a
warning: ``tol`` bounds the gradient of the mean loss, which a large C makes a weak demand. With
``tol=1e-8`` all pass at 1e-6; see `sklearn_logistic_lbfgs_tight`."""
REPRODUCE = """
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

x, y, C = np.array([-10.0, 10.0]), np.array([-1, 1]), 1e5
model = LogisticRegression(C=C, solver="lbfgs", fit_intercept=False, random_state=0)
with warnings.catch_warnings():
    warnings.simplefilter("error")
    w = model.fit(x[:, None], y).coef_[0, 0]


def objective(w):
    return w * w / 2 + C * np.log1p(np.exp(-y * w * x)).sum()


returned = objective(w)
right = min(objective(w) for w in np.linspace(0, 20, 20001))
"""


candidate = trained(logistic(solver="lbfgs"), PROBLEM)
