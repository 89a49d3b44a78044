"""The conjugate's domain asks for the sum of the wrong labels only; that of the right ones may differ."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array

PROBLEM = "multilabel_hinge.conjugate"


def candidate(x: Array, y: Array, costs: Array | None = None) -> float:
    """Conjugate on too large a set."""
    x, inside = np.asarray(x, dtype=float), np.asarray(y) == 1
    c = np.where(inside, 0.0, 1.0) if costs is None else np.asarray(costs, dtype=float)
    if (x < 0).any() or x[~inside].sum() > 1:
        return float("inf")
    return float(-(c @ x))
