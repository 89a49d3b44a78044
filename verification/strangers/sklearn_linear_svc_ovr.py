"""``LinearSVC(loss="hinge")``, default settings: one hinge SVM per class."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.adapters import trained
from verification.adapters.estimators import class_rows

PROBLEM = "multiclass_erm.primal"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "ova_hinge", "tol": 1e-3}
FAILS = ("trained",)
FOUND = ""


def make(C: float) -> Any:
    """C sums over the examples, as here; the penalised intercept is left out."""
    from sklearn.svm import LinearSVC

    return LinearSVC(C=C, loss="hinge", fit_intercept=False, random_state=0)


def rows(model: Any) -> np.ndarray:
    """Of two classes, each has a problem of its own."""
    return class_rows(model, of_two=1.0)


candidate = trained(make, PROBLEM, read={"W": rows})
