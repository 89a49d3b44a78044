"""1 - s passes through float32: seven digits, and 0 below 1e-45."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._sound_entropy import gradient

PROBLEM = "topk_entropy_alpha.gradient"


def candidate(
    scores: Array,
    y: int,
    k: int = 1,
    costs: Array | None = None,
    sample_weight: float | None = None,
    return_complement: bool = False,
) -> Any:
    """Gradient that is right, with a rounded complement."""
    g, rest = gradient(scores, y, k, True, costs, sample_weight)
    with np.errstate(under="ignore"):
        return (g, float(np.float32(rest))) if return_complement else g
