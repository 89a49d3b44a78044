"""Project onto the simplex.

Write `project(a, r=1.0)`: the point of {x >= 0, x_1 + ... + x_d = r} that is nearest to a,
for a vector a of d numbers and r >= 0,

    x = argmin 1/2 ||x - a||^2  subject to  x >= 0, <1,x> = r.

The entries of a may be equal, and they may be much larger than r: then a - r may round to
a.

Hints
-----
Write the Lagrangian with one multiplier t for <1,x> = r. What is x_i for a given t?

x_i = max(a_i - t, 0). The sum over i falls in t, and between two entries of a it is linear:
sort, and find t from n t = (sum of the n largest) - r.

Let b_i = max(a) - a_i, sorted ascending, and h_n = (r + b_1 + ... + b_n)/n. The height of
the largest entry of x is h_n for the last n with b_n < h_n (0 if r = 0), and x_i = max(h -
b_i, 0). Measured from the largest entry nothing cancels.
"""

import numpy as np

from verification.exercises import wrong

LECTURE = 2
PROBLEM = "simplex.projection"


def project(a: np.ndarray, r: float = 1.0) -> np.ndarray:
    """Sort the distances from the largest entry; the height is the last one that covers its own."""
    below = np.max(a) - a
    ascending = np.sort(below)
    heights = (r + np.cumsum(ascending)) / np.arange(1, a.size + 1)
    height = heights[ascending < heights][-1] if r > 0 else 0.0
    return np.maximum(height - below, 0.0)


@wrong
def clip_and_divide(a: np.ndarray, r: float = 1.0) -> np.ndarray:
    """Negative entries to 0, then divided by the sum: feasible, but not the nearest point."""
    x = np.maximum(a, 0.0) + 1e-300
    return r * x / x.sum()


@wrong
def threshold_of_all(a: np.ndarray, r: float = 1.0) -> np.ndarray:
    """The threshold as if all entries stayed positive: the sum is too large afterwards."""
    return np.maximum(a - (a.sum() - r) / a.size, 0.0)


@wrong
def cancels(a: np.ndarray, r: float = 1.0) -> np.ndarray:
    """As most code bases have it, threshold subtracted: right until the entries are large or r is 0."""
    u = np.sort(a)[::-1]
    n = np.arange(1, a.size + 1)
    excess = np.cumsum(u) - r
    last = np.nonzero(u - excess / n > 0)[0][-1]
    return np.maximum(a - excess[last] / n[last], 0.0)
