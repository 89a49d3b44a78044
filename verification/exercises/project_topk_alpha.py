"""Project onto the top-k simplex, alpha variant.

Write `project(a, k, r=1.0)`: the nearest point to a in the set where no entry exceeds the
k-th part of the sum,

    {x in R^d : x >= 0, s <= r, x_i <= s/k},  s = <1,x>,

for an integer k >= 1 and r >= 0. It is the domain of the conjugate of the top-k hinge
(Lapin, Hein, Schiele 2015, Definition 1), and {0} for k > d.

Hints
-----
With the height u = s/k as a number of its own the set is a box, cut by <1,x> = k u. What is
x for a given u and a multiplier t? And when is x = 0?

x = clip(a - t, 0, u). With p = sum (a - t - u)_+ the optimal u has k t + p = 0 if u < r/k,
and u = r/k otherwise; x = 0 if and only if the k largest entries have a sum S_k(a) <= 0 (or
r = 0, or k > d).

Put t = a_[k] - q, with a_[k] the k-th largest. Let delta(q) = sum over the others of (q -
a_[k] + a_i)_+ and u(q) = min((S_k(a) + delta)/k, r/k). Then delta(q) = sum over the k
largest of (u - q - a_i + a_[k])_+ at the solution; the difference rises in q: bisect q from
0 on.
"""

import numpy as np

from verification.exercises import wrong

LECTURE = 3
PROBLEM = "topk_simplex_alpha.projection"


def project(a: np.ndarray, k: int, r: float = 1.0) -> np.ndarray:
    """One root in q, the distance of the threshold from the k-th largest entry."""
    order = -np.sort(-a)
    total = order[:k].sum()
    if k > a.size or total <= 0:
        return np.zeros(a.size)
    top, rest = order[:k] - order[k - 1], order[k - 1] - order[k:]

    def height(q: float) -> tuple[float, float]:
        delta = np.maximum(q - rest, 0.0).sum()
        u = min((total + delta) / k, r / k)
        return u, delta - np.maximum(u - q - top, 0.0).sum()

    low, high = 0.0, min(order[0], r / k)
    while low < (middle := low + (high - low) / 2) < high:
        low, high = (middle, high) if height(middle)[1] < 0 else (low, middle)
    return np.clip(a - order[k - 1] + high, 0.0, height(high)[0])


@wrong
def cap_of_beta(a: np.ndarray, k: int, r: float = 1.0) -> np.ndarray:
    """Caps r/k instead of s/k: the beta variant, which is larger where s < r."""
    cap, low, high = r / k, 0.0, max(float(a.max()), 0.0)
    if np.clip(a, 0, cap).sum() <= r:
        return np.clip(a, 0, cap)
    while low < (middle := (low + high) / 2) < high:
        low, high = (middle, high) if np.clip(a - middle, 0, cap).sum() > r else (low, middle)
    return np.clip(a - high, 0, cap)


@wrong
def clip_the_projection(a: np.ndarray, k: int, r: float = 1.0) -> np.ndarray:
    """Project onto {x >= 0, s <= r}, then clip at s/k: after that s is smaller, and so is the cap."""
    below = np.max(a) - a
    ascending = np.sort(below)
    heights = (r + np.cumsum(ascending)) / np.arange(1, a.size + 1)
    x = np.maximum(a, 0.0)
    if x.sum() > r:
        x = np.maximum((heights[ascending < heights][-1] if r > 0 else 0.0) - below, 0.0)
    return np.minimum(x, x.sum() / k)


@wrong
def zero_by_the_sum_of_all(a: np.ndarray, k: int, r: float = 1.0) -> np.ndarray:
    """The test for 0 adds up all entries instead of the k largest."""
    return np.zeros(a.size) if a.sum() <= 0 else project(a, k, r)
