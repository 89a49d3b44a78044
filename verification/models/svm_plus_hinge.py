"""SVM1+: 1/2||w||^2 + C sum_i w_i xi_i + lam/2 ||v||^2, xi_i = <v,z_i> + rho >= 0, rho free.

Unknowns: w (d,) and v (s,), or coefficients (n,) with Gram matrices K and Kz (which has no 1), b, rho;
alpha (n,) >= 0 without labels and beta (n,) >= 0 of xi >= 0, zeros without ``nonneg_slack``.
``free_slack`` = delta: own slacks eta_i at lam/(2 delta) sum eta_i^2.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from verification.models import Params, _plus, _plus_families

ARGUMENTS = (
    "X", "y", "Z", "C", "lam", "sample_weight", "nonneg_slack", "free_slack", "K", "Kz", "tol"
)  # fmt: skip
DEFAULTS: dict[str, Any] = {
    "X": None,
    "Z": None,
    "sample_weight": None,
    "nonneg_slack": True,
    "free_slack": 0.0,
    "K": None,
    "Kz": None,
    "tol": 1e-6,
}
PARTS = {"primal": ("w", "b", "v", "rho"), "dual": ("alpha", "beta")}
FAMILIES = _plus_families.plus(squared=False)
TASK = _plus.Task("svm_plus_hinge", "hinge")
shapes, certify, upper, lower = TASK.shapes, TASK.certify, TASK.upper, TASK.lower
complete, complete_dual = TASK.complete, TASK.complete_dual
rounding, violations, witness, valid = TASK.rounding, TASK.violations, TASK.witness, _plus.valid


def simpler(params: Params) -> Iterator[Params]:
    """Fewer rows and columns, then plain arguments, then round numbers."""
    plain = {"C": 1.0, "lam": 1.0, "sample_weight": None, "nonneg_slack": True, "free_slack": 0.0}
    return _plus.simpler(params, plain, ("C", "lam", "free_slack"))


def train(
    X: np.ndarray | None,
    y: np.ndarray,
    Z: np.ndarray | None,
    C: float,
    lam: float,
    sample_weight: np.ndarray | None = None,
    nonneg_slack: bool = True,
    free_slack: float = 0.0,
    K: np.ndarray | None = None,
    Kz: np.ndarray | None = None,
    tol: float = 1e-6,
) -> dict[str, Any]:
    """`fast.SVMPlusClassifier` with ``loss="hinge"``."""
    return TASK.train(
        X=X, y=y, Z=Z, C=C, lam=lam, sample_weight=sample_weight, nonneg_slack=nonneg_slack,
        free_slack=free_slack, K=K, Kz=Kz, tol=tol,
    )  # fmt: skip
