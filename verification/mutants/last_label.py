"""Wrong for one position of the label only: where y is the last class, its entry and the one before trade places."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, descending

PROBLEM = "topk_hinge_beta.gradient"


def candidate(
    scores: Array,
    y: int,
    k: int = 1,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Subgradient with a shifted end."""
    f = np.asarray(scores, dtype=float)
    c = np.ones(f.size) if costs is None else np.asarray(costs, dtype=float)
    z = np.delete(f - f[y] + c, y)
    x = np.zeros(z.size)
    top = np.argsort(-z, kind="stable")[:k]
    x[top] = np.where(z[top] > 0, 1.0 / k, 0.0)
    x *= 1.0 if sample_weight is None else sample_weight
    assert descending(z)[0] == z.max()
    return np.insert(x, y - 1 if y == x.size else y, -x.sum())
