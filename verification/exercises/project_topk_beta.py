"""Project onto the top-k simplex, beta variant.

Write `project(a, k, r=1.0)`: the nearest point to a in

    {x in R^d : 0 <= x_i <= r/k, <1,x> <= r},

for an integer k >= 1 and r >= 0. The caps are shares of the bound r, not of the sum.

Hints
-----
A box and one inequality: one multiplier t >= 0 decides. What is x for a given t?

x = clip(a - t, 0, r/k), where t = 0 if the sum is at most r then, and otherwise sum x = r.
The sum falls in t.

If the sum at t = 0 exceeds r, put t = a_[k] - q with a_[k] the k-th largest entry: the sum
of clip(a - a_[k] + q, 0, r/k) rises in q, is below r at q = 0 and at least r at q = r/k.
Bisect.
"""

import numpy as np

from verification.exercises import wrong

LECTURE = 3
PROBLEM = "topk_simplex_beta.projection"


def project(a: np.ndarray, k: int, r: float = 1.0) -> np.ndarray:
    """The threshold is measured from the k-th largest entry, so that large entries lose no digits."""
    cap = r / k
    x = np.clip(a, 0.0, cap)
    if x.sum() <= r:  # and so for k > d
        return x
    from_kth = a - np.sort(a)[-k]
    low, high = 0.0, cap
    while low < (middle := (low + high) / 2) < high:
        low, high = (
            (middle, high) if np.clip(from_kth + middle, 0.0, cap).sum() < r else (low, middle)
        )
    return np.clip(from_kth + high, 0.0, cap)


@wrong
def always_r(a: np.ndarray, k: int, r: float = 1.0) -> np.ndarray:
    """The sum is forced to r, also where less is nearer (t may become negative)."""
    cap = r / k
    if k > a.size:
        return np.full(a.size, cap)
    from_kth = a - np.sort(a)[-k]
    low, high = 0.0, cap
    while low < (middle := (low + high) / 2) < high:
        low, high = (
            (middle, high) if np.clip(from_kth + middle, 0.0, cap).sum() < r else (low, middle)
        )
    return np.clip(from_kth + high, 0.0, cap)


@wrong
def without_the_caps(a: np.ndarray, k: int, r: float = 1.0) -> np.ndarray:
    """Projected onto {x >= 0, s <= r} and clipped at r/k: what is cut off belongs to the others."""
    return np.minimum(project(a, 1, r), r / k)
