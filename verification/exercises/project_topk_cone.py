"""Project onto the top-k cone.

Write `project(a, k)`: the nearest point to a in the cone

    {x in R^d : x >= 0, x_i <= s/k},  s = <1,x>,

for an integer k >= 1: the top-k simplex without the bound on the sum. It is {0} for k > d.

Hints
-----
For a cone, a - x is orthogonal to x. For which a is the projection 0? (The polar cone.)

x = 0 if and only if the k largest entries have a sum S_k(a) <= 0. Otherwise x = clip(a - t,
0, u) with <1,x> = k u and k t + sum (a - t - u)_+ = 0.

Put t = a_[k] - q. With delta(q) = sum over the others of (q - a_[k] + a_i)_+ the height is
u = (S_k(a) + delta)/k; bisect q in [0, max a] for delta = sum over the k largest of (u - q
- a_i + a_[k])_+.
"""

import numpy as np

from verification.exercises import wrong

LECTURE = 3
PROBLEM = "topk_cone.projection"


def project(a: np.ndarray, k: int) -> np.ndarray:
    """One root in q, the distance of the threshold from the k-th largest entry."""
    order = -np.sort(-a)
    total = order[:k].sum()
    if k > a.size or total <= 0:
        return np.zeros(a.size)
    top, rest = order[:k] - order[k - 1], order[k - 1] - order[k:]

    def height(q: float) -> tuple[float, float]:
        delta = np.maximum(q - rest, 0.0).sum()
        u = (total + delta) / k
        return u, delta - np.maximum(u - q - top, 0.0).sum()

    low, high = 0.0, order[0]
    while low < (middle := low + (high - low) / 2) < high:
        low, high = (middle, high) if height(middle)[1] < 0 else (low, middle)
    return np.clip(a - order[k - 1] + high, 0.0, height(high)[0])


@wrong
def clip_once(a: np.ndarray, k: int) -> np.ndarray:
    """Negative entries to 0, then clipped at s/k: clipping lowers s, so the caps are too high."""
    x = np.maximum(a, 0.0)
    return np.minimum(x, x.sum() / k)


@wrong
def clip_until_feasible(a: np.ndarray, k: int) -> np.ndarray:
    """Clipped at s/k again and again: feasible in the end, but the small entries never grow."""
    x = np.maximum(a, 0.0)
    for _ in range(200):
        x = np.minimum(x, x.sum() / k)
    return x if k <= a.size else np.zeros(a.size)
