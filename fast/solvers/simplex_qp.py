"""Small convex quadratic programs over the unit simplex.

min_x 1/2 ||A'x||^2 + <c, x>   subject to x >= 0, <1, x> = 1,   A (m, d), m up to a few hundred.

The certificate is the Frank-Wolfe gap <x, g> - min_t g_t >= f(x) - f*, g = A A'x + c.
"""

from typing import NamedTuple

import numpy as np

from fast.solvers import interior_point


class SimplexQP(NamedTuple):
    """x (m,) with f(x) - f* <= gap."""

    x: np.ndarray
    gap: float


def minimise(A: np.ndarray, c: np.ndarray, tol: float, gram: np.ndarray | None = None) -> SimplexQP:
    """Minimise 1/2 ||A'x||^2 + <c, x> over the simplex until the gap is about ``tol``.

    Parameters
    ----------
    A : (m, d) array
    c : (m,) array
    tol : float
        Bound aimed at for f(x) - f*; what cannot be reached in floating point is left.
    gram : (m, m) array, optional
        A A', if it is known already.

    Returns
    -------
    SimplexQP
        x and its gap.
    """
    m = len(c)
    x = np.full(m, 1.0 / m)
    if m > 1:
        x = interior_point.minimise(A, c - c.min(), np.ones((1, m)), np.ones(1), x, tol, gram)
        x = x / x.sum()
    g = A @ (A.T @ x) + c
    return SimplexQP(x, max(float(x @ g - g.min()), 0.0))
