"""Small convex quadratic programs in standard form, by a primal-dual interior point method.

min_x 1/2 ||A'x||^2 + <c, x>   subject to x >= 0, E x = e,   A (m, d), E (q, m), m up to a few hundred,
q one or two.
"""

import numpy as np
from scipy.linalg.lapack import dpotrs  # its wrapper costs more than small systems

from fast.solvers.ridge import cholesky

MOST_STEPS = 80
ROUNDING = 1e-13  # accuracy of products with A A', relative
BOUNDARY = 0.995  # part of the way to the boundary that a step may take
TINY = 1e-40  # complementarity, relative to the problem's size, that is 0


def minimise(
    A: np.ndarray,
    c: np.ndarray,
    E: np.ndarray,
    e: np.ndarray,
    start: np.ndarray,
    tol: float,
    gram: np.ndarray | None = None,
) -> np.ndarray:
    """Minimise until complementarity and residuals are worth at most ``tol`` of the objective.

    Parameters
    ----------
    A : (m, d) array
    c : (m,) array
    E, e : (q, m) and (q,) arrays
    start : (m,) array
        Positive, of the solution's magnitude.
    tol : float
        What cannot be reached in floating point is left.
    gram : (m, m) array, optional
        A A', if it is known already.

    Returns
    -------
    (m,) array
        x > 0; feasible up to rounding, and optimal as far as the steps led: check it.
    """
    gram = A @ A.T if gram is None else gram
    # Where A'x is small by cancellation, A A'x is right only if it is taken from A.
    wide = A.shape[1] > len(c) and tol > ROUNDING * float(gram.diagonal().max())
    size = _size(A, c, start, gram)
    if size == 0.0:
        return start / (E @ start).max()
    Q, q, aim, x, nu = gram / size, c / size, tol / size, start.copy(), np.zeros(len(e))
    g = (Q @ x if wide else A @ (A.T @ x) / size) + q
    nu[0] = float(g.min()) - 0.1 * float(np.ptp(g)) - 1e-3 / float(x.max())
    z = np.maximum(g - nu @ E, 1e-3 / float(x.max()))
    best, least = x, np.inf
    for _ in range(MOST_STEPS):
        residual, missing, mu = g - nu @ E - z, e - E @ x, float(x @ z) / len(x)
        left = float(x @ (z + np.abs(residual))) + float(np.abs(nu) @ np.abs(missing))
        if left < least:
            best, least = x, left
        if left <= aim or mu < TINY / len(x):
            break
        try:
            newton = _Newton(Q, E, residual, missing, x, z)
            dx, _, dz = newton.step(x * z)
            reached = float((x + _longest(x, dx) * dx) @ (z + _longest(z, dz) * dz)) / len(x)
            centring = (reached / mu) ** 3 * mu
            dx, dnu, dz = newton.step(x * z + dx * dz - centring)
        except np.linalg.LinAlgError:  # a pivot is lost to rounding: nothing left to gain
            break
        length = BOUNDARY * min(_longest(x, dx), _longest(z, dz))
        if not (np.isfinite(length) and np.isfinite(dx).all()):
            break
        x, nu, z = x + length * dx, nu + length * dnu, z + length * dz
        g = (Q @ x if wide else A @ (A.T @ x) / size) + q
    return best


def _size(A: np.ndarray, c: np.ndarray, start: np.ndarray, gram: np.ndarray) -> float:
    """Magnitude of the objective's terms."""
    size = float(np.abs(start * (A @ (A.T @ start))).max())
    return max(size, float(np.abs(start * (c - c.min())).max()), float(gram.diagonal() @ start**2))


class _Newton:
    """One linearisation of Qx + q - E'nu - z = 0, Ex = e, x_t z_t = target."""

    def __init__(
        self,
        Q: np.ndarray,
        E: np.ndarray,
        residual: np.ndarray,
        missing: np.ndarray,
        x: np.ndarray,
        z: np.ndarray,
    ) -> None:
        self.E, self.residual, self.missing, self.x, self.z = E, residual, missing, x, z
        H = Q.copy()  # C order: reshape is a view of it
        H.reshape(-1)[:: len(x) + 1] += z / x
        self.factor = cholesky(H)
        self.columns = self._solve(E.T).reshape(len(x), len(E))
        self.schur = E @ self.columns

    def _solve(self, b: np.ndarray) -> np.ndarray:
        return np.asarray(dpotrs(self.factor, b, lower=1)[0])

    def step(self, excess: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Directions in x, nu and z that take ``excess`` off the products x_t z_t."""
        a = self._solve(-self.residual - excess / self.x)
        left = self.missing - self.E @ a
        dnu = left / self.schur[0] if len(left) == 1 else np.linalg.solve(self.schur, left)
        dx = a + self.columns @ dnu
        return dx, dnu, -(excess + self.z * dx) / self.x


def _longest(v: np.ndarray, dv: np.ndarray) -> float:
    """Largest step in [0, 1] that keeps v + step*dv >= 0."""
    falling = dv < 0.0
    return min(1.0, float((-v[falling] / dv[falling]).min())) if falling.any() else 1.0
