"""``pyproximal.L1Ball``, whose prox is the projection onto the l1 ball by bisection."""

from typing import Any

PROBLEM = "l1_ball.projection"
PACKAGES = ("pyproximal",)
BATCH = False
ACCURACY = 1e-4
DEFECT = "``L1Ball.prox`` returns its own argument inside the ball, a new array outside."
FOUND = """The bisection stops at 1e-5 for the threshold, absolute; judged by 1e-4 of the data it keeps that where r is
of size 1, and has no digit right at r = 1e-5: the answer is 0 for r = 1e-6. A vector inside the ball is
returned itself, not a copy, so that who changes the answer changes the input; outside of the ball the
answer is new. The first is documented (``xtol``), the second is not."""
REPRODUCE = """
import numpy as np
from pyproximal import L1Ball

returned = L1Ball(2, 1e-6).prox(np.array([3.0, 1.0]), 1.0)
right = np.array([1e-6, 0.0])
"""


def candidate(a: Any, r: float = 1.0) -> Any:
    """One vector, with the default tolerance of 1e-5 and 100 iterations."""
    from pyproximal import L1Ball

    return L1Ball(len(a), r).prox(a, 1.0)
