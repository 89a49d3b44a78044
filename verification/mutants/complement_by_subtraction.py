"""1 - s is computed as a difference: 0 or noise as soon as s rounds to 1."""

from __future__ import annotations

from typing import Any

from verification.mutants._sound import Array
from verification.mutants._sound_entropy import gradient

PROBLEM = "softmax.gradient"


def candidate(
    scores: Array,
    y: int,
    costs: Array | None = None,
    sample_weight: float | None = None,
    return_complement: bool = False,
) -> Any:
    """Gradient that is right, with a complement that is not."""
    g, _ = gradient(scores, y, 1, True, costs, sample_weight)
    x, _ = gradient(scores, y, 1, True, costs, None)
    return (g, max(1.0 + x[y], 0.0)) if return_complement else g
