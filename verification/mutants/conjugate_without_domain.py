"""The conjugate is finite everywhere: its domain is forgotten."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array

PROBLEM = "smooth_topk_hinge_alpha.conjugate"


def candidate(x: Array, k: int = 1, gamma: float = 1.0, costs: Array | None = None) -> float:
    """Conjugate without +inf."""
    x = np.asarray(x, dtype=float)
    c = np.ones(x.size) if costs is None else np.asarray(costs, dtype=float)
    return float(gamma / 2 * (x @ x) - c @ x)
