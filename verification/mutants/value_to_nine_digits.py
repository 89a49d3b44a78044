"""The value is right to nine digits: more than any plot shows, and a million times the rounding error."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array

PROBLEM = "multiclass_hinge.value"


def candidate(
    scores: Array, y: int, costs: Array | None = None, sample_weight: float | None = None
) -> float:
    """Value that is too large by a relative 1e-9."""
    f = np.asarray(scores, dtype=float)
    c = np.ones(f.size) if costs is None else np.asarray(costs, dtype=float)
    weight = 1.0 if sample_weight is None else sample_weight
    return float(weight * max(0.0, np.delete(f - f[y] + c, y).max())) * (1 + 1e-9)
