"""Case 2 of Lemma 3 is taken wherever the k-th entry stands clear of the next one, by however little.

It holds only where the distance is at least the height S_k(a)/(k + rho k^2).
"""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, descending, unbounded

PROBLEM = "topk_cone.projection"
ERRATA = ("lapin_2015/lemma_3",)


def candidate(a: Array, k: int, rho: float = 0.0) -> Array:
    """Projection that is constant too often."""
    a = np.asarray(a, dtype=float)
    order = descending(a)
    total = order[:k].sum()
    if k < a.size and total > 0 and order[k - 1] > order[k]:
        x = np.zeros(a.size)
        x[np.argsort(-a, kind="stable")[:k]] = total / (k + rho * k * k)
        return x
    return unbounded(a, k, rho)
