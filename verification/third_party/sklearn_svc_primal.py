"""``SVC(kernel="linear")``, default settings, by its ``coef_`` and ``intercept_``."""

from verification.adapters import trained
from verification.third_party.sklearn_svc_dual import make

PROBLEM = "svm.primal"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "hinge", "tol": 1e-3}
FOUND = """The same models by ``coef_`` and ``intercept_``: 10 of 77 have an objective that is
more than 1e-3 above the optimum, up to 24 times it where C is 1e5. The
boundary is right to as many digits as ``tol`` promises; C multiplies what the margins lack. Who
needs the dual's certificate must not read it off the primal side."""
REPRODUCE = """
import numpy as np
from sklearn.svm import SVC

X, y, C = np.array([[1.0, 0.2442169189453125], [0.0, 0.0]]), np.array([1, -1]), 1e5
model = SVC(C=C, kernel="linear").fit(X, y)


def objective(w, b):
    return w @ w / 2 + C * np.maximum(0, 1 - y * (X @ w + b)).sum()


returned = objective(model.coef_[0], model.intercept_[0])
w = 2 * X[0] / (X[0] @ X[0])
right = objective(w, -1.0)  # both margins are 1
"""


candidate = trained(make, PROBLEM)
