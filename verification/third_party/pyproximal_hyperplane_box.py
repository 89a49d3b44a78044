"""``pyproximal.projection.HyperPlaneBoxProj``: a hyperplane and a box, by bisection."""

from typing import Any

PROBLEM = "knapsack.projection"
PACKAGES = ("pyproximal",)
BATCH = False
ACCURACY = 1e-4
DEFECT = "``HyperPlaneBoxProj`` ends in an OverflowError where a feasible sum is one rounding error beyond the box."
FOUND = """The bisection stops at 1e-5 for the multiplier, absolute (``xtol``, documented); judged by 1e-4 of the data,
answers of that size and smaller have no digit right. Not documented: where the capacity is the most that
the box allows, and its sum rounds to just below, the search for a bracket doubles a whole number until
Python cannot turn it into a float, and ends in an OverflowError. So does an empty set."""
REPRODUCE = """
import numpy as np
from pyproximal.projection import HyperPlaneBoxProj

try:
    returned = HyperPlaneBoxProj(np.full(10, 0.1), 1.0, 0.0, 1.0)(np.zeros(10))
except OverflowError:  # int too large to convert to float
    returned = np.full(10, np.nan)
right = np.ones(10)
"""


def candidate(a: Any, b: Any, low: Any, high: Any, capacity: float) -> Any:
    """One vector, with the default tolerance of 1e-5 and 100 iterations."""
    from pyproximal.projection import HyperPlaneBoxProj

    return HyperPlaneBoxProj(b, capacity, low, high)(a)
