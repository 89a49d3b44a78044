"""s is returned in the place of 1 - s."""

from __future__ import annotations

from typing import Any

from verification.mutants._sound import Array
from verification.mutants._sound_entropy import gradient

PROBLEM = "topk_entropy_beta.gradient"


def candidate(
    scores: Array,
    y: int,
    k: int = 1,
    costs: Array | None = None,
    sample_weight: float | None = None,
    return_complement: bool = False,
) -> Any:
    """Gradient with the wrong half of the pair."""
    g, rest = gradient(scores, y, k, False, costs, sample_weight)
    return (g, 1.0 - rest) if return_complement else g
