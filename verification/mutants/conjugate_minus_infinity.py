"""The dual objective is +inf outside of its domain, as Theorem 1 of Lapin et al. 2015 prints it.

A maximiser would run there; the conjugate that belongs to it is -inf.
"""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array

PROBLEM = "topk_hinge_beta.conjugate"
ERRATA = ("lapin_2015/theorem_1",)


def candidate(x: Array, k: int = 1, costs: Array | None = None) -> float:
    """Conjugate with the wrong sign of its infinity."""
    x = np.asarray(x, dtype=float)
    c = np.ones(x.size) if costs is None else np.asarray(costs, dtype=float)
    inside = (x >= 0).all() and x.sum() <= 1 and (x <= 1 / k).all()
    return float(-(c @ x)) if inside else -float("inf")
