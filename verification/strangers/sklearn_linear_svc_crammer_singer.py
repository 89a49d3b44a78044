"""``LinearSVC(multi_class="crammer_singer")``, default settings, as a trained multiclass hinge."""

from __future__ import annotations

from typing import Any

from verification.adapters import trained

PROBLEM = "multiclass_erm.primal"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "multiclass_hinge", "tol": 1e-3}
FAILS = ("trained",)
FOUND = ""


def make(C: float) -> Any:
    """C sums over the examples, as here; the penalised intercept is left out."""
    from sklearn.svm import LinearSVC

    return LinearSVC(C=C, multi_class="crammer_singer", fit_intercept=False, random_state=0)


candidate = trained(make, PROBLEM)
