"""The duals of SVM+ as quadratic programs on kernel matrices: Newton on the active set, interior point.

min 1/2 u'Mu - h'u   subject to u >= 0, F'u = c,   u = (alpha, beta) or alpha alone

M = [[K_y + R, R], [R, R]],   K_y = K . yy',   F = [[y, 1], [0, 1]], c = (0, total) (or y and 0 alone)

R is the deformed kernel for the squared hinge (no total) and Kz/lam for the hinge; where functions are
signed, both times yy', and F has y for 1. A Newton step solves for the multipliers of the active set
alone; those that come out negative leave it, those whose rows are violated enter. It ends at the
optimum or, rarely, runs in circles: then the interior point method of the linear trainers takes the
whole matrix.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

from fast.svm_plus.interior_point_qp import Rows, minimise

ROUNDS = 40
WORSE = 4  # rounds without fewer rows on the wrong side before giving up
SETTLED = 1e3  # units of rounding that the active rows may be off
RIDGES = (0.0, 1e-14, 1e-12, 1e-10, 1e-8)  # of the mean diagonal, where the block is singular


class KernelQP:
    """One of the four duals.

    Parameters
    ----------
    K, R : (n, n) arrays
        Positive semidefinite.
    y : (n,) array
    h : (n,) or (2 n,) array
        Two parts if there are multipliers beta.
    total : float, optional
        Value of sign'(alpha + beta).
    sign : (n,) array or 1
        y for signed correcting functions.
    """

    def __init__(
        self, K: np.ndarray, R: np.ndarray, y: np.ndarray, h: np.ndarray, total: float | None,
        sign: Any = 1.0,
    ) -> None:  # fmt: skip
        self.K, self.R, self.y, self.h = K, R, y, h
        self.n, self.size = len(y), len(h)
        self.paired = self.size > self.n
        columns = [np.concatenate([y, np.zeros(self.size - self.n)])]
        if total is not None:
            columns.append(np.resize(sign, self.size))
        self.F = np.stack(columns, axis=1)
        self.c = np.zeros(1) if total is None else np.array([0.0, total])

    def block(self, first: np.ndarray, second: np.ndarray) -> np.ndarray:
        """M on the rows ``first`` of alpha and ``second`` of beta."""
        rows = np.concatenate([first, second]) if len(second) else first
        M = self.R[np.ix_(rows, rows)]
        k = len(first)
        M[:k, :k] += self.K[np.ix_(first, first)] * self.y[first] * self.y[first, None]
        return M

    def product(self, u: np.ndarray) -> np.ndarray:
        """M u."""
        alpha = u[: self.n]
        r = self.R @ (alpha + u[self.n :] if self.paired else alpha)
        top = self.y * (self.K @ (alpha * self.y)) + r
        return np.concatenate([top, r]) if self.paired else top


def newton(
    qp: KernelQP, u: np.ndarray, accept: Callable[[np.ndarray, int], bool], tol: float = 1e-12
) -> bool:
    """Newton steps on the active set that begins with the support of ``u``.

    ``accept`` is called with every iterate (its negative entries cut off) and its round; true
    stops. Returns whether it ended at a point that is optimal up to rounding, or accepted.
    """
    active = u > 0.0
    fewest, since = qp.size + 1, 0
    for iteration in range(1, ROUNDS + 1):
        found = _on_active(qp, np.flatnonzero(active), u)
        if found is None:
            return False
        u, free = found
        if not np.isfinite(u).all():
            return False
        wrong = u < 0.0
        cut = np.where(wrong, 0.0, u)
        if accept(cut, iteration):
            return True
        slack = qp.product(u) + qp.F @ free - qp.h
        noise = tol * (float(np.abs(qp.h).max()) + float(np.abs(slack).max()))
        entering = (slack < -noise) & ~active
        count = int(np.count_nonzero(wrong)) + int(np.count_nonzero(entering))
        if count == 0 and float(np.abs(slack[active]).max()) <= SETTLED * noise:
            return True  # otherwise a ridge was needed, and the next round is nearer
        if count < fewest:
            fewest, since = count, 0
        else:
            since += 1
            if since > WORSE:
                return False
        active = (active & ~wrong) | entering
    return False


def _on_active(
    qp: KernelQP, rows: np.ndarray, before: np.ndarray
) -> tuple[np.ndarray, np.ndarray] | None:
    """Solve M_SS u_S + F_S free = h_S, F'u = c; near ``before`` where M_SS is singular."""
    if not len(rows):
        return None
    half = int(np.searchsorted(rows, qp.n))
    M = qp.block(rows[:half], rows[half:] - qp.n)
    F, h, mean = qp.F[rows], qp.h[rows], float(M.trace()) / len(rows)
    old = np.maximum(before[rows], 0.0)
    for ridge in RIDGES:
        shifted = M.T if ridge == RIDGES[-1] else M.T.copy(order="F")
        shifted[np.diag_indices(len(rows))] += ridge * mean
        L, failed = dpotrf(shifted, lower=1, clean=0, overwrite_a=1)
        diagonal = L.diagonal()
        if not failed and float(diagonal.min()) > 1e-7 * float(diagonal.max()) * (ridge == 0.0):
            break
    else:
        return None
    right = np.column_stack([h + ridge * mean * old, F])
    X = dpotrs(L, right, lower=1)[0]
    border = F.T @ X[:, 1:]
    # R is singular along the costs, so that the two columns differ by 1e13: lstsq would drop b
    size = np.sqrt(np.maximum(border.diagonal(), 1e-300))
    short = (F.T @ X[:, 0] - qp.c) / size
    free = np.linalg.lstsq(border / size / size[:, None], short, rcond=None)[0] / size
    u = np.zeros(qp.size)
    u[rows] = X[:, 0] - X[:, 1:] @ free
    return u, free


def interior_point(qp: KernelQP, tol: float) -> np.ndarray:
    """Mehrotra's method on the whole matrix."""
    everything = np.arange(qp.n)
    M = qp.block(everything, everything if qp.paired else everything[:0])
    rows = Rows(np.zeros((qp.size, 0)), qp.F, qp.h, qp.c)
    return np.maximum(minimise(rows, tol, M).mu, 0.0)
