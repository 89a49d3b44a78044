"""``LinearSVC(multi_class="crammer_singer")``, default settings, as a trained multiclass hinge."""

from verification.adapters import trained
from verification.third_party._sklearn import linear_svc

PROBLEM = "multiclass_erm.primal"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "multiclass_hinge", "tol": 1e-3}
FOUND = """In the default settings 88 of 99 models are within 1e-3 of the optimum; 11 are not, up
to twice the optimal objective, mostly where the classes are separable and C is large, and in 7 of
the 11 no ConvergenceWarning is given. ``tol`` bounds the largest violation of the dual's
conditions, not the gap, so nothing promised is broken. With ``tol=1e-8, max_iter=100_000`` the
worst relative gap is 9e-5, the median 6e-10."""
REPRODUCE = """
import numpy as np
from sklearn.svm import LinearSVC

X, y, C = np.array([[2.0, -2.0], [0.0, 3.0], [-1.0, 0.0]]), np.array([0, 1, 2]), 1.0


def objective(tol):
    given = {"C": C, "multi_class": "crammer_singer", "fit_intercept": False, "random_state": 0}
    W = LinearSVC(tol=tol, max_iter=1_000_000, **given).fit(X, y).coef_
    scores = X @ W.T
    margins = 1 + scores - scores[[0, 1, 2], y][:, None]
    margins[[0, 1, 2], y] = 0
    return (W**2).sum() / 2 + C * margins.max(axis=1).sum()


returned, right = objective(1e-4), objective(1e-10)  # the default, and better than it
"""


candidate = trained(linear_svc(multi_class="crammer_singer"), PROBLEM)
