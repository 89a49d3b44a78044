"""``pyproximal.Simplex``, whose prox is the projection onto the simplex by bisection."""

from __future__ import annotations

from typing import Any

PROBLEM = "simplex.projection"
PACKAGES = ("pyproximal",)
BATCH = False
FAILS = ()
FOUND = ""


def candidate(a: Any, r: float = 1.0) -> Any:
    """One vector, with the default tolerance of 1e-8 and 100 iterations."""
    from pyproximal import Simplex

    return Simplex(len(a), r).prox(a, 1.0)
