"""The prox keeps the largest entries and lets the k - 1 smallest stay: a local answer at best."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._sound_entropy import point

PROBLEM = "truncated_topk_entropy.prox"


def candidate(v: Array, k: int = 1, t: float = 1.0, costs: Array | None = None) -> Array:
    """Prox of the worst piece."""
    v = np.asarray(v, dtype=float)
    b = v + (0.0 if costs is None else costs)
    kept = np.argsort(-b, kind="stable")[: b.size - k + 1]
    out = v.copy()
    out[kept] -= t * point(b[kept], t)[0]
    return out
