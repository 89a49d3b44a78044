"""The subgradient marks the k largest margins even where their sum is negative."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array

PROBLEM = "topk_hinge_alpha.gradient"


def candidate(
    scores: Array,
    y: int,
    k: int = 1,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Subgradient that forgets the outer maximum with 0."""
    scores = np.asarray(scores, dtype=float)
    c = np.ones(scores.size) if costs is None else np.asarray(costs, dtype=float)
    z = np.delete(scores - scores[y] + c, y)
    x = np.zeros(z.size)
    x[np.argsort(-z, kind="stable")[:k]] = (1.0 if sample_weight is None else sample_weight) / k
    return np.insert(x, y, -x.sum())
