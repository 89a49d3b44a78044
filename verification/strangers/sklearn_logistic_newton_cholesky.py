"""``LogisticRegression(solver="newton-cholesky")``, default settings, as a trained softmax."""

from __future__ import annotations

from typing import Any

from verification.adapters import trained

PROBLEM = "multiclass_erm.primal"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "softmax", "tol": 1e-3}
FAILS = ("trained",)
FOUND = ""


def make(C: float, m: int) -> Any:
    """Two classes have one w there, with 1/2 ||w||^2: twice the penalty of two rows."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(
        C=C if m > 2 else 2 * C, solver="newton-cholesky", fit_intercept=False
    )


candidate = trained(make, PROBLEM)
