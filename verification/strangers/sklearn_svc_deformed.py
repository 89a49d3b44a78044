"""``SVC(kernel="precomputed")`` on the deformed kernel K + yy' Q: the dual of SVM2+."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from verification.adapters.estimators import support_values

PROBLEM = "svm_plus_squared_hinge.dual"
PACKAGES = ("scikit-learn",)
FIXED = {"tol": 1e-3}
#: Without a limit, which is the default, some instances never end.
STEPS = 200_000
FAILS = ("trained",)
FOUND = ""


def candidate(
    X: Any = None, *, y: Any, Z: Any = None, C: float, lam: float, K: Any = None, Kz: Any = None
) -> dict[str, Any]:
    """The dual has no box; half of C n + lambda is one that is never active."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.svm import SVC

    from refsolve.models.svm_plus_squared_hinge import deformed_kernel

    Q = deformed_kernel(Z=Z, Kz=Kz, C=C, lam=lam)
    gram = X @ X.T if K is None else K
    deformed = gram + np.outer(y, y) * Q
    box = (C * len(y) + lam) / 2
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        model = SVC(C=box, kernel="precomputed", max_iter=STEPS).fit(deformed, y)
    return {"alpha": support_values(model, len(y))}
