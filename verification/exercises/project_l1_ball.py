"""Project onto the l1 ball.

Write `project(a, r=1.0)`: the nearest point to a in {|x_1| + ... + |x_d| <= r},

    x = argmin 1/2 ||x - a||^2  subject to  ||x||_1 <= r,

for a vector a of any signs and r >= 0. Points inside stay where they are.

Hints
-----
The signs of x are those of a. What remains for |x|?

If ||a||_1 <= r, x = a. Otherwise |x| is the projection of |a| onto the simplex of sum r.

x = sign(a) max(h - b, 0) with b = max|a| - |a| and the height h of the exercise
`project_simplex` at |a|; r = 0 gives 0.
"""

import numpy as np

from verification.exercises import wrong

LECTURE = 2
PROBLEM = "l1_ball.projection"


def project(a: np.ndarray, r: float = 1.0) -> np.ndarray:
    """Signs and the simplex."""
    size = np.abs(a)
    if size.sum() <= r:
        return a.copy()
    below = size.max() - size
    ascending = np.sort(below)
    heights = (r + np.cumsum(ascending)) / np.arange(1, a.size + 1)
    height = heights[ascending < heights][-1] if r > 0 else 0.0
    return np.sign(a) * np.maximum(height - below, 0.0)


@wrong
def scaled(a: np.ndarray, r: float = 1.0) -> np.ndarray:
    """Divided by the norm: the point of the ball in the same direction, not the nearest one."""
    norm = np.abs(a).sum()
    return a.copy() if norm <= r else a * (r / norm)


@wrong
def always_on_the_sphere(a: np.ndarray, r: float = 1.0) -> np.ndarray:
    """The signs times the simplex, also for points inside, which should stay."""
    size = np.abs(a)
    below = size.max() - size
    ascending = np.sort(below)
    heights = (r + np.cumsum(ascending)) / np.arange(1, a.size + 1)
    height = heights[ascending < heights][-1] if r > 0 else 0.0
    return np.sign(a) * np.maximum(height - below, 0.0)
