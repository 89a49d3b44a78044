"""``LogisticRegression(solver="saga")``, default settings, as a trained softmax."""

from verification.adapters import trained
from verification.third_party._sklearn import logistic

PROBLEM = "multiclass_erm.primal"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "softmax", "tol": 1e-3}
FOUND = """In the default settings 87 of 99 models are within 1e-3 of the optimum; of the 12
others, with gaps of up to 96 % of the objective, each comes with a ConvergenceWarning after 100
epochs. The status can be believed here, the model cannot."""
REPRODUCE = """
import warnings

import numpy as np
from sklearn.linear_model import LogisticRegression

x, y, C = np.array([-4.0, 4.0]), np.array([-1, 1]), 1000.0
model = LogisticRegression(C=C, solver="saga", fit_intercept=False, random_state=0)
with warnings.catch_warnings(action="ignore"):
    w = model.fit(x[:, None], y).coef_[0, 0]


def objective(w):
    return w * w / 2 + C * np.log1p(np.exp(-y * w * x)).sum()


returned = objective(w)
right = min(objective(w) for w in np.linspace(0, 20, 20001))
"""


candidate = trained(logistic(solver="saga", random_state=0), PROBLEM)
