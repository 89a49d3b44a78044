"""A smoothed top-k hinge.

Write `value(scores, y, k=1, gamma=1.0)`: with z_j = f_j - f_y + 1 over the d = m - 1 other
classes,

    L = max over x of <z,x> - gamma/2 ||x||^2,  0 <= x_j <= 1/k, <1,x> <= 1,

the beta top-k hinge with a strongly convex conjugate, hence a Lipschitz gradient, for gamma
> 0.

Hints
-----
Complete the square: the maximiser is a projection.

x = p/gamma, p the projection of z onto {0 <= p_j <= gamma/k, <1,p> <= gamma}. Put it in.

L = (<z,p> - ||p||^2/2)/gamma = sum p_j (z_j - p_j/2)/gamma; p = clip(z - t, 0, gamma/k), t
= 0 or such that the sum is gamma (`project_topk_beta`).
"""

import numpy as np

from verification.exercises import wrong

LECTURE = 7
PROBLEM = "smooth_topk_hinge_beta.value"


def value(scores: np.ndarray, y: int, k: int = 1, gamma: float = 1.0) -> float:
    """From the projection p."""
    z = np.delete(scores - scores[y] + 1.0, y)
    cap = gamma / k
    p = np.clip(z, 0.0, cap)
    if p.sum() > gamma:
        from_kth = z - np.sort(z)[-k]
        low, high = 0.0, cap
        while low < (middle := (low + high) / 2) < high:
            short = np.clip(from_kth + middle, 0.0, cap).sum() < gamma
            low, high = (middle, high) if short else (low, middle)
        p = np.clip(from_kth + high, 0.0, cap)
    return float((p / gamma * (z - p / 2)).sum())


@wrong
def huber_of_each(scores: np.ndarray, y: int, k: int = 1, gamma: float = 1.0) -> float:
    """Every entry smoothed by itself: the bound on the sum is forgotten."""
    z = np.delete(scores - scores[y] + 1.0, y)
    p = np.clip(z, 0.0, gamma / k)
    return float((p * (z - p / 2)).sum() / gamma)


@wrong
def square_kept(scores: np.ndarray, y: int, k: int = 1, gamma: float = 1.0) -> float:
    """<z,x> at the right x, without - gamma/2 ||x||^2."""
    z = np.delete(scores - scores[y] + 1.0, y)
    low, high = 0.0, max(float(z.max()), 0.0)
    for _ in range(200):
        t = (low + high) / 2
        low, high = (t, high) if np.clip(z - t, 0, gamma / k).sum() > gamma else (low, t)
    return float((z * np.clip(z - high, 0, gamma / k)).sum() / gamma)


@wrong
def hinge(scores: np.ndarray, y: int, k: int = 1, gamma: float = 1.0) -> float:
    """The hinge itself, not smoothed at all."""
    z = np.sort(np.delete(scores - scores[y] + 1.0, y))
    return float(np.maximum(z[-k:], 0).sum() / k)
