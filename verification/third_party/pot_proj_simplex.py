"""``ot.utils.proj_simplex`` of POT, the projection onto the simplex by sorting."""

from typing import Any

import numpy as np

PROBLEM = "simplex.projection"
PACKAGES = ("POT",)
BATCH = False
FOUND = """Right, ties included, as long as r is not lost beside the entries. The number of
positive entries is counted as those with u_i - (u_1 + ... + u_i - r)/i > 0, which no entry
satisfies once u_1 - r rounds to u_1 (in double precision from u_1 = 2^54 r on, in single
precision from 2^25 r, which the thorough profile meets). The count is then 0 and the threshold
infinite: the answer is all 0 or all inf. r = 0 divides by 0 in the same way. The documentation
excludes neither; no sensible use meets them in double precision."""
REPRODUCE = """
import numpy as np
from ot.utils import proj_simplex

with np.errstate(divide="ignore", invalid="ignore"):
    returned = proj_simplex(np.array([2.0**54, 0.0]), 1.0)
right = np.array([1.0, 0.0])
"""


def candidate(a: Any, r: float = 1.0) -> Any:
    """One vector."""
    from ot.utils import proj_simplex

    with np.errstate(divide="ignore", invalid="ignore"):  # the answer says it
        return proj_simplex(a, r)
