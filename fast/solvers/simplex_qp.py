"""Small convex quadratic programs over the unit simplex, by an interior point method.

min_x 1/2 ||A'x||^2 + <c, x>   subject to x >= 0, <1, x> = 1,   A (m, d), m up to a few hundred.

The certificate is the Frank-Wolfe gap <x, g> - min_t g_t >= f(x) - f*, g = A A'x + c. It is taken
from A, not from A A', so that it stays meaningful where A'x is small by cancellation.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.linalg import LinAlgError, cho_factor, cho_solve

MOST_STEPS = 80
BOUNDARY = 0.995  # part of the way to the boundary that a step may take
TINY = 1e-15  # complementarity, relative to the problem's size, below which rounding rules


class SimplexQP(NamedTuple):
    """x (m,) with f(x) - f* <= gap."""

    x: np.ndarray
    gap: float


def minimise(A: np.ndarray, c: np.ndarray, tol: float, gram: np.ndarray | None = None) -> SimplexQP:
    """Minimise 1/2 ||A'x||^2 + <c, x> over the simplex until the gap is at most ``tol``.

    Parameters
    ----------
    A : (m, d) array
    c : (m,) array
    tol : float
        Bound on f(x) - f*; what cannot be reached in floating point is left.
    gram : (m, m) array, optional
        A A', if it is known already.

    Returns
    -------
    SimplexQP
        The best x met and its gap.
    """
    m = len(c)
    if m == 1:
        return SimplexQP(np.ones(1), 0.0)
    gram = A @ A.T if gram is None else gram
    size = max(float(gram.diagonal().max()), float(np.ptp(c)))
    if size == 0.0:
        return SimplexQP(np.full(m, 1.0 / m), 0.0)
    Q, q = gram / size, (c - c.min()) / size
    x = np.full(m, 1.0 / m)
    g = A @ (A.T @ x) / size + q
    nu = float(g.min()) - 0.1 * float(np.ptp(g)) - 1e-3
    z = g - nu
    best = SimplexQP(x, max(float(x @ g - g.min()), 0.0) * size)
    for _ in range(MOST_STEPS):
        mu = float(x @ z) / m
        if best.gap <= tol or mu < TINY / m:
            break
        newton = _Newton(Q, g - nu - z, x, z)
        dx, _, dz = newton.step(x * z)
        reached = float((x + _longest(x, dx) * dx) @ (z + _longest(z, dz) * dz)) / m
        centring = (reached / mu) ** 3 * mu
        dx, dnu, dz = newton.step(x * z + dx * dz - centring)
        length = BOUNDARY * min(_longest(x, dx), _longest(z, dz))
        x, nu, z = x + length * dx, nu + length * dnu, z + length * dz
        feasible = x / x.sum()
        g = A @ (A.T @ x) / size + q
        gap = float(feasible @ g - g.min()) * size
        if gap < best.gap:
            best = SimplexQP(feasible, max(gap, 0.0))
    return best


class _Newton:
    """One linearisation of Qx + q - nu - z = 0, <1, x> = 1, x_t z_t = target."""

    def __init__(self, Q: np.ndarray, residual: np.ndarray, x: np.ndarray, z: np.ndarray) -> None:
        self.residual, self.x, self.z = residual, x, z
        H = Q.copy()
        H[np.diag_indices_from(H)] += z / x
        self.factor = _factorised(H)
        self.ones = self._solve(np.ones_like(x))

    def _solve(self, b: np.ndarray) -> np.ndarray:
        return np.asarray(cho_solve(self.factor, b, check_finite=False))

    def step(self, excess: np.ndarray) -> tuple[np.ndarray, float, np.ndarray]:
        """Directions in x, nu and z that take ``excess`` off the products x_t z_t."""
        a = self._solve(-self.residual - excess / self.x)
        dnu = (1.0 - float(self.x.sum()) - float(a.sum())) / float(self.ones.sum())
        dx = a + dnu * self.ones
        return dx, dnu, -(excess + self.z * dx) / self.x


def _longest(v: np.ndarray, dv: np.ndarray) -> float:
    """Largest step in [0, 1] that keeps v + step*dv >= 0."""
    falling = dv < 0.0
    return min(1.0, float((-v[falling] / dv[falling]).min())) if falling.any() else 1.0


def _factorised(H: np.ndarray) -> tuple[np.ndarray, bool]:
    """Cholesky factor; H is singular up to rounding where rows of A repeat each other."""
    jitter = 0.0
    while True:
        try:
            return cho_factor(H + jitter * np.eye(len(H)), lower=True, check_finite=False)
        except LinAlgError:
            jitter = max(10.0 * jitter, 1e-15 * float(H.diagonal().max()))
