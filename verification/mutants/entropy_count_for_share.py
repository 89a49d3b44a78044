"""The number |U| of capped entries stands where the share rho = |U|/k belongs.

As in the last version of the papers' own library: the multipliers of the caps enter 1 - s in full
instead of by their k-th part.
"""

from __future__ import annotations

from verification.mutants._sound import Array
from verification.mutants._sound_entropy import update

PROBLEM = "topk_entropy_alpha.sdca_update"
ERRATA = ("libsdca/count_for_share",)


def candidate(
    q: Array,
    y: int,
    k_ii: float,
    C: float = 1.0,
    k: int = 1,
    costs: Array | None = None,
    sample_weight: float | None = None,
) -> Array:
    """Update with the multipliers counted k times."""
    return update(q, y, k_ii, C, k, True, costs, sample_weight, share=1.0)[0]
