"""``LinearSVC(loss="hinge")`` with its intercept, as if it were an SVM with a free one."""

from verification.adapters import trained
from verification.third_party._sklearn import linear_svc

PROBLEM = "svm.primal"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "hinge", "tol": 1e-3}
FOUND = """Solved to ``tol=1e-8``, and still 35 of 77 models are not those of an SVM with a free
intercept: LinearSVC penalises it as the weight of a column of ones (``intercept_scaling``), as
its documentation says. The kit tells the two models apart; give ``fit_intercept=False`` and
centre the data, or use SVC."""
REPRODUCE = """
import numpy as np
from sklearn.svm import LinearSVC

X, y, C = np.array([[-2.0], [0.0]]), np.array([1, -1]), 1.0
model = LinearSVC(C=C, loss="hinge", tol=1e-8, max_iter=100_000, random_state=0).fit(X, y)


def objective(w, b):
    return w @ w / 2 + C * np.maximum(0, 1 - y * (X @ w + b)).sum()


returned = objective(model.coef_[0], model.intercept_[0])
right = objective(np.array([-1.0]), -1.0)
"""


#: Left as it is, the intercept is the weight of a column of ones, and penalised.
candidate = trained(
    linear_svc(loss="hinge", tol=1e-8, max_iter=100_000, fit_intercept=True), PROBLEM
)
