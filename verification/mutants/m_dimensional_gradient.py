"""The subgradient marks the k largest of all m margins, the ground truth's zero among them."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, descending

PROBLEM = "topk_hinge_alpha.gradient"
ERRATA = ("lapin_2015/proposition_3",)


def candidate(
    scores: Array,
    y: int,
    k: int = 1,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Subgradient of another loss."""
    f = np.asarray(scores, dtype=float)
    c = np.ones(f.size) if costs is None else np.array(costs, dtype=float)
    c[y] = 0.0
    z = f - f[y] + c
    g = np.zeros(f.size)
    if descending(z)[:k].sum() > 0:
        g[np.argsort(-z, kind="stable")[:k]] = 1.0 / k
        g[y] -= g.sum()
    return g * (1.0 if sample_weight is None else sample_weight)
