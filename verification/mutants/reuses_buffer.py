"""The answer is a view of one buffer that the next call overwrites."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array, unbounded

PROBLEM = "topk_cone.projection"

_buffer = np.empty(1024)


def candidate(a: Array, k: int, rho: float = 0.0) -> Array:
    """Projection written into shared memory."""
    out = _buffer[: len(a)]
    out[:] = unbounded(a, k, rho)
    return out
