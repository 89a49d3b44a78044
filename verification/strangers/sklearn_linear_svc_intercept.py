"""``LinearSVC(loss="hinge")`` with its intercept, as if it were an SVM with a free one."""

from __future__ import annotations

from typing import Any

from verification.adapters import trained

PROBLEM = "svm.primal"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "hinge", "tol": 1e-3}
FAILS = ("trained",)
FOUND = ""


def make(C: float) -> Any:
    """Left as it is, the intercept is the weight of a column of ones, and penalised."""
    from sklearn.svm import LinearSVC

    return LinearSVC(C=C, loss="hinge", tol=1e-8, max_iter=100_000, random_state=0)


candidate = trained(make, PROBLEM)
