"""The multiplier of s <= r is t + k p − rho r, as Lemma 5 of Lapin et al. 2015 prints it.

Right is t + p/k − rho r; the wrong one keeps s = r where the solution is inside.
"""

from __future__ import annotations

from verification.mutants._sound import Array, alpha

PROBLEM = "topk_simplex_alpha.projection"
ERRATA = ("lapin_2015/lemma_5",)


def printed(t: float, p: float, k: int, r: float, rho: float) -> float:
    """Multiplier as printed."""
    return t + k * p - rho * r


def candidate(a: Array, k: int, r: float = 1.0, rho: float = 0.0) -> Array:
    """Projection that decides by the printed multiplier."""
    return alpha(a, k, r, rho, multiplier=printed)
