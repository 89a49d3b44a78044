"""log(1 + e^z) is taken literally: infinite from z = 710 on, and 0 below -37."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array

PROBLEM = "ova_logistic.value"


def candidate(
    scores: Array, y: int, costs: Array | None = None, sample_weight: float | None = None
) -> float:
    """Value as it is written."""
    z = np.array(scores, dtype=float)
    z[y] = -z[y]
    z += 0.0 if costs is None else costs
    weight = 1.0 if sample_weight is None else sample_weight
    with np.errstate(over="ignore", invalid="ignore"):
        return float(weight * np.log(1 + np.exp(z)).sum())
