"""The domain has a tolerance of 1e-7: a point outside by less than that is projected, and finite."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array

PROBLEM = "topk_hinge_beta.conjugate"
TOLERANCE = 1e-7


def candidate(x: Array, k: int = 1, costs: Array | None = None) -> float:
    """-<c,x> in a domain that is too large."""
    x = np.asarray(x, dtype=float)
    c = np.ones(x.size) if costs is None else np.asarray(costs, dtype=float)
    outside = max(float(x.sum()) - 1, float(x.max()) - 1 / k, -float(x.min()))
    return -float(c @ x) if outside <= TOLERANCE else float("inf")
