"""``proxmin.operators.prox_unity_plus``, "non-negative projection onto sum=1"."""

from typing import Any

import numpy as np

PROBLEM = "simplex.projection"
PACKAGES = ("proxmin",)
BATCH = False
DEFECT = '``prox_unity_plus``, a "projection onto sum=1", divides by the sum, and is none.'
FOUND = """Not the projection: the positive part is divided by its sum, which moves every entry in proportion to its
size, where the projection takes the same from each. It is called a projection in its documentation, stands
among the proximal operators, and the algorithms of the package are run with it as one. A vector without
positive entries becomes nan. The same holds for ``prox_unity``."""
REPRODUCE = """
import numpy as np
from proxmin.operators import prox_unity_plus

returned = prox_unity_plus(np.array([2.0, 1.0]), 1.0)
right = np.array([1.0, 0.0])  # at distance 1.41; what is returned is at 1.49
"""


def candidate(a: Any) -> Any:
    """One vector, which is overwritten; the sum is 1, the step has no meaning."""
    from proxmin.operators import prox_unity_plus

    with np.errstate(divide="ignore", invalid="ignore"):  # the answer says it
        return prox_unity_plus(a.copy(), 1.0)
