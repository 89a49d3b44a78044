"""``ot.smooth.projection_simplex`` of POT, another projection onto the simplex by sorting, of matrices."""

from typing import Any

import numpy as np

PROBLEM = "simplex.projection"
PACKAGES = ("POT",)
FOUND = """As `pot_proj_simplex`, and for the same reason: right unless r is lost beside the entries, or is 0. Batches
of rows with a radius each are right, too."""
REPRODUCE = """
import numpy as np
from ot.smooth import projection_simplex

with np.errstate(divide="ignore", invalid="ignore"):
    returned = projection_simplex(np.array([2.0**54, 0.0]), 1.0)
right = np.array([1.0, 0.0])
"""


def candidate(a: Any, r: Any = 1.0) -> Any:
    """One vector, or rows with a radius each."""
    from ot.smooth import projection_simplex

    with np.errstate(divide="ignore", invalid="ignore"):  # the answer says it
        return projection_simplex(a, r, axis=None if np.ndim(a) == 1 else 1)
