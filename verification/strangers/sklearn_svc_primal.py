"""``SVC(kernel="linear")``, default settings, by its ``coef_`` and ``intercept_``."""

from __future__ import annotations

from verification.adapters import trained
from verification.strangers.sklearn_svc_dual import make

PROBLEM = "svm.primal"
PACKAGES = ("scikit-learn",)
FIXED = {"loss": "hinge", "tol": 1e-3}
FAILS = ("trained",)
FOUND = ""


candidate = trained(make, PROBLEM)
