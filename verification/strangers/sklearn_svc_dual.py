"""``SVC(kernel="linear")``, default settings, by its multipliers."""

from __future__ import annotations

from typing import Any

from verification.adapters import trained

PROBLEM = "svm.dual"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "hinge", "tol": 1e-3}
FAILS = ()
FOUND = ""


def make(C: float) -> Any:
    """C sums over the examples, the intercept is free, as here."""
    from sklearn.svm import SVC

    return SVC(C=C, kernel="linear")


candidate = trained(make, PROBLEM)
