"""``LogisticRegression(solver="lbfgs")``, with ``tol=1e-8``, as a trained softmax."""

from __future__ import annotations

from typing import Any

from verification.adapters import trained

PROBLEM = "multiclass_erm.primal"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "softmax", "tol": 1e-6}
FOUND = """Passes at a relative gap of 1e-6 on every instance (worst 3.6e-9): asked for accuracy,
it gives it."""


def make(C: float, m: int) -> Any:
    """Two classes have one w there, with 1/2 ||w||^2: twice the penalty of two rows."""
    from sklearn.linear_model import LogisticRegression

    return LogisticRegression(
        C=C if m > 2 else 2 * C, solver="lbfgs", fit_intercept=False, tol=1e-8, max_iter=100_000
    )


candidate = trained(make, PROBLEM)
