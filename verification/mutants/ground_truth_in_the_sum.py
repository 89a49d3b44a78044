"""The value sums the k largest of all m margins, the ground truth's zero among them."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, descending

PROBLEM = "topk_hinge_alpha.value"
ERRATA = ("lapin_2015/proposition_3",)


def candidate(
    scores: Array,
    y: int,
    k: int = 1,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> float:
    """Value of the loss as printed."""
    c = np.ones(len(scores)) if costs is None else np.array(costs, dtype=float)
    c[y] = 0.0
    z = np.asarray(scores, dtype=float) - scores[y] + c
    weight = 1.0 if sample_weight is None else sample_weight
    return float(weight * max(0.0, descending(z)[:k].sum() / k))
