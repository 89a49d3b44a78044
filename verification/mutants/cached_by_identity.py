"""Answers are cached by the address of the input, which another array has later."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants._sound import Array, unbounded

PROBLEM = "topk_cone.projection"

_answers: dict[Any, Array] = {}


def candidate(a: Array, k: int, rho: float = 0.0) -> Array:
    """Projection with a cache that never forgets."""
    key = (id(a), len(a), k, rho)
    if key not in _answers:
        _answers[key] = unbounded(np.asarray(a, dtype=float), k, rho)
    return _answers[key].copy()
