"""Strict inequalities in condition (7) of Lapin et al. 2015; where no partition fits, zero.

Lemma 4 offers zero as the fallback; with ties at the thresholds the strict search finds nothing.
"""

from __future__ import annotations

from verification.mutants._cone_search import search
from verification.mutants._sound import Array

PROBLEM = "topk_cone.projection"
ERRATA = ("lapin_2015/lemma_4",)


def candidate(a: Array, k: int, rho: float = 0.0) -> Array:
    """Projection by a search that may come back with nothing."""
    return search(a, k, rho, lambda low, t, high: low < t < high)
