"""Three Newton steps for the update, from the probability of the scores."""

from __future__ import annotations

import numpy as np
from scipy.special import expit

from verification.mutants._sound import Array

PROBLEM = "ova_logistic.sdca_update"


def candidate(
    q: Array,
    y: int,
    k_ii: float,
    C: float = 1.0,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Update that stops too early."""
    signs = np.ones(len(q))
    signs[y] = -1.0
    b = signs * np.asarray(q, dtype=float) + (0.0 if costs is None else costs)
    mass = C * (1.0 if sample_weight is None else sample_weight)
    u = b.copy()  # the logit: alpha expit(u) + u = b
    for _ in range(3):
        x = expit(u)
        u -= (mass * k_ii * x + u - b) / (1 + mass * k_ii * x * (1 - x))
    return np.asarray(-mass * signs * expit(u))
