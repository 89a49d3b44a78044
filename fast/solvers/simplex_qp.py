"""Small convex quadratic programs over the unit simplex.

min_x 1/2 ||A'x||^2 + <c, x>   subject to x >= 0, <1, x> = 1,   A (m, d), m up to a few hundred.

The certificate is the Frank-Wolfe gap <x, g> - min_t g_t >= f(x) - f*, g = A A'x + c. From a start
that is nearly right an active set needs a factorisation for each entry that comes or goes; otherwise,
and where rounding ends that, an interior point method.
"""

from typing import NamedTuple

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from fast.solvers import interior_point

RIDGE = 1e-14  # part of the trace; rows of A may depend on each other
SMALL = 1e-4  # part of the largest: entries that an interior point method has left near 0
CHANGES = 100  # steps of the active set
TINY, WRONG = 1e-300, 1e-6  # numbers that are 0, and sums that rounding has spoilt


class SimplexQP(NamedTuple):
    """x (m,) with f(x) - f* <= gap."""

    x: np.ndarray
    gap: float


def minimise(
    A: np.ndarray | None,
    c: np.ndarray,
    tol: float,
    gram: np.ndarray | None = None,
    start: np.ndarray | None = None,
) -> SimplexQP:
    """Minimise 1/2 ||A'x||^2 + <c, x> over the simplex until the gap is about ``tol``.

    Parameters
    ----------
    A : (m, d) array, optional
        Not needed beside ``gram``, but for digits.
    c : (m,) array
    tol : float
        Bound aimed at for f(x) - f*; what cannot be reached in floating point is left.
    gram : (m, m) array, optional
        A A', if it is known already.
    start : (m,) array, optional
        A point of the simplex, whose entries that are not 0 are about those of the solution.

    Returns
    -------
    SimplexQP
        x and its gap.
    """
    m, best = len(c), SimplexQP(np.ones(1), 0.0)
    if m == 1:
        return best
    if gram is None:
        assert A is not None
        gram = A @ A.T
    if start is not None:
        best = _with_gap(A, gram, c, _active_set(gram, c - c.min(), tol, start))
        if best.gap <= tol:
            return best
    if A is None:
        size, U = np.linalg.eigh(gram)
        A = U * np.sqrt(np.maximum(size, 0.0))
    x, ones = np.full(m, 1.0 / m), np.ones((1, m))
    x = interior_point.minimise(A, c - c.min(), ones, np.ones(1), x, tol, gram)
    found = _with_gap(A, gram, c, x / x.sum())
    return found if start is None or found.gap <= best.gap else best


def _with_gap(A: np.ndarray | None, gram: np.ndarray, c: np.ndarray, x: np.ndarray) -> SimplexQP:
    g = (gram @ x if A is None else A @ (A.T @ x)) + c
    return SimplexQP(x, max(float(x @ g - g.min()), 0.0))


def _active_set(Q: np.ndarray, c: np.ndarray, tol: float, start: np.ndarray) -> np.ndarray:
    """Entries enter one by one where the gradient is least, and leave where they reach 0."""
    x, ridge = start.copy(), RIDGE * float(Q.trace())
    kept = np.flatnonzero(x > 0.0)
    for _ in range(CHANGES):
        H = Q[np.ix_(kept, kept)]
        H.reshape(-1)[:: len(kept) + 1] += ridge
        factor, failed = dpotrf(H, lower=1)
        above = c[kept] - c[kept].min()  # the same for any constant; large ones would hide the 1
        if not failed:
            a, b = dpotrs(factor, np.column_stack([np.ones(len(kept)), above]), lower=1)[0].T
            y = (1.0 + b.sum()) / a.sum() * a - b
        if failed or not abs(y.sum() - 1.0) <= WRONG:  # rows depend on each other
            large = x > SMALL * x.max()
            if large[kept].all():
                break
            x = np.where(large, x, 0.0) / x[large].sum()
            kept = np.flatnonzero(large)
            continue
        if y.min() > 0.0:
            x[kept] = y
            g = Q[kept].T @ y + c
            enters = int(g.argmin())
            if float(x @ g) - float(g[enters]) <= 0.5 * tol or x[enters] > 0.0:
                break
            kept = np.append(kept, enters)
            continue
        old, falling = x[kept], y <= 0.0
        part = np.full(len(kept), np.inf)
        part[falling] = old[falling] / np.maximum(old[falling] - y[falling], TINY)
        step = float(part.min())
        if not step > 0.0:  # the last that entered is as good outside
            break
        x[kept] = np.where(part <= step, 0.0, old + step * (y - old))
        kept = kept[part > step]
    x = np.maximum(x, 0.0)
    return x / x.sum()
