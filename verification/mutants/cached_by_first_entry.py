"""Answers are cached by the length and the first entry of the input, which others share."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants._sound import Array, unbounded

PROBLEM = "topk_cone.projection"

_answers: dict[Any, Array] = {}


def candidate(a: Array, k: int, rho: float = 0.0) -> Array:
    """Projection with a cache that looks too briefly."""
    key = (len(a), float(a[0]), k, rho)
    if key not in _answers:
        _answers[key] = unbounded(np.asarray(a, dtype=float), k, rho)
    return _answers[key].copy()
