"""``jaxopt.projection.projection_box_section``: a hyperplane with positive weights and a box, by bisection."""

from typing import Any

import numpy as np

from verification.third_party._jax import compiled, single

PROBLEM = "knapsack.projection"
PACKAGES = ("jaxopt", "jax")
BATCH = False
REFUSES = ("NotImplementedError",)
ACCURACY = 1e-4
DEFECT = "``projection_box_section`` returns the upper end of the box where the only feasible point is the lower one."
FOUND = """Where the capacity is the least that the box allows, c = <w, low>, the answer is the upper end of the box:
the bisection finds the sign 0 at its lower end and walks away from it. The set is not empty then, it is the
point low, and the documentation excludes c < <w, low> only. The box section is what JAXopt's own examples
train SVMs with. Elsewhere the bisection stops at 1e-5, absolute and for the residual, not the answer: with
weights of 1e-3 the answer has two digits."""
REPRODUCE = """
import numpy as np
from jaxopt.projection import projection_box_section

low, high, w, c = np.zeros(1), np.ones(1), np.ones(1), 0.0
returned = np.asarray(projection_box_section(np.array([0.5]), (low, high, w, c)))
right = np.array([0.0])  # the only point with low <= x <= high and w x = c
"""


@single(PROBLEM)
def candidate(a: Any, b: Any, low: Any, high: Any, capacity: float) -> Any:
    """One vector of float32; weights "should be positive"."""
    if not (np.all(b > 0) and np.all(np.isfinite(low)) and np.all(np.isfinite(high))):
        raise NotImplementedError("positive weights and finite bounds")
    return compiled("jaxopt.projection:projection_box_section")(a, (low, high, b, capacity))
