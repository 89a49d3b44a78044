"""The conjugate of the loss as printed, whose top-k sum runs over all m classes.

Its domain {x >= 0, s <= 1, x_i <= min(1/k, s/(k-1))} is larger than that of the loss over the others.
"""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array

PROBLEM = "topk_hinge_alpha.conjugate"
ERRATA = ("lapin_2015/proposition_3",)


def candidate(x: Array, k: int = 1, costs: Array | None = None) -> float:
    """Conjugate of another loss."""
    x = np.asarray(x, dtype=float)
    c = np.ones(x.size) if costs is None else np.asarray(costs, dtype=float)
    s = x.sum()
    cap = s if k == 1 else min(1 / k, s / (k - 1))
    inside = (x >= 0).all() and s <= 1 and (x <= cap).all()
    return float(-(c @ x)) if inside else float("inf")
