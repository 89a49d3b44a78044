"""An absolute epsilon in the conditions of the cone search: right at scale 1, zero for large tied input.

In libsdca (2016) the search of the partition comes back with zero where no bound holds up to 1e-15.
"""

from __future__ import annotations

from verification.mutants._cone_search import search
from verification.mutants._sound import Array

PROBLEM = "topk_cone.projection"
ERRATA = ("libsdca/absolute_epsilons", "lapin_2015/lemma_4")

EPSILON = 1e-15


def candidate(a: Array, k: int, rho: float = 0.0) -> Array:
    """Projection by a search with a literal tolerance."""
    return search(a, k, rho, lambda low, t, high: low - EPSILON <= t <= high + EPSILON)
