"""The prox of the multiclass hinge loss.

Write `prox(v, t=1.0)`: the minimiser over u in R^d of

    1/2 ||u - v||^2 + t L(u),  L(u) = max{0, max_j u_j + 1},

for a vector v and a step t > 0. L is the loss of Crammer and Singer in the differences u_j
= f_j - f_y.

Hints
-----
Moreau: the prox of t L at v, and t times the prox of L*/t at v/t, add up to v.

L* is -<1,x> on {x >= 0, <1,x> <= 1}: its prox is a projection of a shifted point.

u = v - t p, where p is the projection of (v + 1)/t onto {x >= 0, <1,x> <= 1}: max(b, 0) if
its sum is at most 1, else the simplex.
"""

import numpy as np

from verification.exercises import wrong

LECTURE = 6
PROBLEM = "multiclass_hinge.prox"


def prox(v: np.ndarray, t: float = 1.0) -> np.ndarray:
    """Moreau's identity, with the set scaled by t: t p is the projection of v + 1 onto it."""
    b = v + 1.0
    x = np.maximum(b, 0.0)
    if x.sum() > t:
        below = b.max() - b
        ascending = np.sort(below)
        heights = (t + np.cumsum(ascending)) / np.arange(1, b.size + 1)
        x = np.maximum(heights[ascending < heights][-1] - below, 0.0)
    return v - x


@wrong
def without_the_margin(v: np.ndarray, t: float = 1.0) -> np.ndarray:
    """The shift by 1 is forgotten: the prox of max{0, max u}."""
    return prox(v - 1.0, t) + 1.0


@wrong
def always_the_simplex(v: np.ndarray, t: float = 1.0) -> np.ndarray:
    """Projected onto <1,x> = 1 also where the inequality is inactive: points without a loss move."""
    below = v.max() - v
    ascending = np.sort(below)
    heights = (t + np.cumsum(ascending)) / np.arange(1, v.size + 1)
    return v - np.maximum(heights[ascending < heights][-1] - below, 0.0)


@wrong
def step_forgotten(v: np.ndarray, t: float = 1.0) -> np.ndarray:
    """The step t is 1, whatever it is."""
    return prox(v, 1.0)
