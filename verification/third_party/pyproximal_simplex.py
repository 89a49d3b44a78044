"""``pyproximal.Simplex``, whose prox is the projection onto the simplex by bisection."""

from typing import Any

PROBLEM = "simplex.projection"
PACKAGES = ("pyproximal",)
BATCH = False
FOUND = """As accurate as it says: the bisection stops at its default tolerance of 1e-8, an
absolute one, and the sum is off by that much. The kit judges projections by the rounding errors
of an exact method, so that it fails; in single precision, where 1e-8 is beyond rounding, it
passes. A tolerance relative to r would hold at small radii, too: at r = 1e-8 nearly half of the
answer is missing, at 1e-9 all of it."""
REPRODUCE = """
import numpy as np
from pyproximal import Simplex

returned = Simplex(2, 1e-8).prox(np.array([3.0, 1.0]), 1.0)
right = np.array([1e-8, 0.0])
"""


def candidate(a: Any, r: float = 1.0) -> Any:
    """One vector, with the default tolerance of 1e-8 and 100 iterations."""
    from pyproximal import Simplex

    return Simplex(len(a), r).prox(a, 1.0)
