"""Claims the convex bound of its first step as the objective of the ramp."""

from __future__ import annotations

import numpy as np

from verification.models import ap_ramp, ap_svm
from verification.mutants._sound import Array
from verification.mutants._sound_ap_training import Parts

PROBLEM = "ap_ramp.primal"


def candidate(
    X: Array, y: Array, C: float, groups: Array | None = None, tol: float = 1e-6
) -> Parts:
    """The right w, with the objective of the hinge."""
    w = ap_ramp.train(X, y, C, groups, tol)["w"]
    given = {"X": X, "y": y, "C": C, "groups": groups}
    return {"w": w, "objectives": np.array([ap_svm.upper(given, {"w": w})])}
