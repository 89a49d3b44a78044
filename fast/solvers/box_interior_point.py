"""Mehrotra's predictor-corrector for the dual of the ordinary SVM, both losses.

min 1/2 a'Ha - 1'a   subject to   0 <= a <= u, a'y = 0,   H = K . yy' + diag(ridge)

u = inf for the squared hinge (whose ridge is 1/C). K is given as a matrix, or as X with K = XX':
then the systems are d x d. Nothing here is a certificate: whoever calls computes that.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.linalg.lapack import dpotrf, dpotrs

from fast.solvers.rows import is_sparse

BOUNDARY = 0.995  # part of the way to the boundary that a step may take
SLOW = 0.9  # a step that leaves more of a z and s t than this share is centred
SHORTEST = 1e-10
TINY = 1e-300


class MatrixGram:
    """K itself."""

    def __init__(self, K: np.ndarray) -> None:
        self.K, self.n = K, len(K)
        self.diagonal = K.diagonal()

    def product(self, c: np.ndarray) -> np.ndarray:
        """K c."""
        return np.asarray(self.K @ c)

    def solver(self, E: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """R -> (K + diag(E))^-1 r."""
        M = self.K.copy()
        M[np.diag_indices(self.n)] += E
        L = _cholesky(M)
        return lambda r: np.asarray(dpotrs(L, r, lower=1)[0])


class FactorGram:
    """K = XX' by X (n, d), dense float64 or CSR."""

    def __init__(self, X: Any) -> None:
        self.X, self.n = X, X.shape[0]
        squares = X.multiply(X).sum(axis=1) if is_sparse(X) else np.einsum("ij,ij->i", X, X)
        self.diagonal = np.asarray(squares).ravel()

    def product(self, c: np.ndarray) -> np.ndarray:
        """K c."""
        return np.asarray(self.X @ (self.X.T @ c))

    def solver(self, E: np.ndarray) -> Callable[[np.ndarray], np.ndarray]:
        """R -> (K + diag(E))^-1 r, by (I + X' E^-1 X)^-1."""
        X, T = self.X, 1.0 / E
        if is_sparse(X):
            M = np.asarray((X.T @ sp.diags_array(T) @ X).toarray())
        else:
            M = (X.T * T) @ X
        M[np.diag_indices(X.shape[1])] += 1.0
        L = _cholesky(M)

        def solve(r: np.ndarray) -> np.ndarray:
            first = T * r
            return np.asarray(first - T * (X @ dpotrs(L, X.T @ first, lower=1)[0]))

        return solve


def _cholesky(M: np.ndarray) -> np.ndarray:
    ridge, mean = 0.0, float(M.trace()) / len(M)
    while True:
        L, failed = dpotrf(M.T, lower=1, clean=0)
        if not failed:
            return np.asarray(L)
        more = max(100.0 * ridge, 1e-16)
        M[np.diag_indices_from(M)] += (more - ridge) * mean
        ridge = more


def minimise(
    gram: MatrixGram | FactorGram,
    y: np.ndarray,
    upper: np.ndarray,
    ridge: np.ndarray,
    look: Callable[[np.ndarray, float], bool],
    max_iter: int,
) -> None:
    """Interior points a, each shown to ``look(a, b)`` with its offset b; true stops.

    Parameters
    ----------
    gram : MatrixGram or FactorGram
    y : (n,) array of -1, 1
    upper, ridge : (n,) arrays
        Positive; >= 0.
    look : callable
    max_iter : int
    """
    point = _Point(gram, y, upper, ridge)
    for _ in range(max_iter):
        if look(point.a, point.b):
            return
        with np.errstate(all="ignore"):  # rounding rules: what is not finite is not taken
            if not point.advance():
                return


class _Point:
    """An interior point: a, its distance s to the box, multipliers z and t of both, and b."""

    def __init__(
        self, gram: MatrixGram | FactorGram, y: np.ndarray, upper: np.ndarray, ridge: np.ndarray
    ) -> None:
        self.gram, self.y, self.ridge = gram, y, ridge
        self.bounded = np.isfinite(upper)
        self.pairs = len(y) + int(np.count_nonzero(self.bounded))
        self.a, self.b = _start(gram, y, upper, ridge), 0.0
        self.s = np.where(self.bounded, upper - self.a, 1.0)
        slope = self.slope()
        size = 0.1 * (float(np.abs(slope).max()) + 1.0)
        self.z = np.maximum(slope, 0.0) + size
        self.t = np.where(self.bounded, np.maximum(-slope, 0.0) + size, 0.0)

    def slope(self) -> np.ndarray:
        """H a - 1."""
        return np.asarray(self.y * self.gram.product(self.a * self.y) + self.ridge * self.a - 1.0)

    def advance(self) -> bool:
        """One step; False if there is none."""
        y, a, s, z, t = self.y, self.a, self.s, self.z, self.t
        self.dual, self.rest = self.slope() + self.b * y - z + t, float(y @ a)
        mu = float(a @ z + s @ t) / self.pairs
        self.inverse = self.gram.solver(self.ridge + z / a + t / s)
        self.q = y * self.inverse(np.ones(len(y)))
        da, db, dz, dt = self.direction(-a * z, -s * t)
        step = self.longest(da, dz, dt)
        after = self.product(step, da, dz, dt)
        target = mu * min(max(after / max(mu, TINY), 0.0), 1.0) ** 3
        c2 = np.where(self.bounded, target - s * t + da * dt, 0.0)
        da, db, dz, dt = self.direction(target - a * z - da * dz, c2)
        step = min(1.0, BOUNDARY * self.longest(da, dz, dt))
        if not self.product(step, da, dz, dt) < SLOW * mu:
            # the corrector was made for a step of length 1, and shorter ones may go round in circles
            c2 = np.where(self.bounded, 0.5 * mu - s * t, 0.0)
            da, db, dz, dt = self.direction(0.5 * mu - a * z, c2)
            step = min(1.0, BOUNDARY * self.longest(da, dz, dt))
        finite = np.isfinite(da).all() and np.isfinite(dz).all() and np.isfinite(db)
        if not (finite and step > SHORTEST):
            return False
        self.a = np.maximum(a + step * da, TINY)
        self.s = np.where(self.bounded, np.maximum(s - step * da, TINY), 1.0)
        self.z = np.maximum(z + step * dz, TINY)
        self.t = np.where(self.bounded, np.maximum(t + step * dt, TINY), 0.0)
        self.b += step * db
        return True

    def product(self, step: float, da: np.ndarray, dz: np.ndarray, dt: np.ndarray) -> float:
        """Mean of a z and s t after a step."""
        pairs = (self.a + step * da) @ (self.z + step * dz)
        pairs += (self.s - step * da) @ (self.t + step * dt)
        return float(pairs) / self.pairs

    def direction(
        self, c1: np.ndarray, c2: np.ndarray
    ) -> tuple[np.ndarray, float, np.ndarray, np.ndarray]:
        """Newton's step for a z = (a z) + c1, s t = (s t) + c2 and the linear equations."""
        p = self.y * self.inverse(self.y * (-self.dual + c1 / self.a - c2 / self.s))
        db = (self.rest + float(self.y @ p)) / (float(self.y @ self.q) or TINY)
        da = p - db * self.q
        return da, db, (c1 - self.z * da) / self.a, (c2 + self.t * da) / self.s

    def longest(self, da: np.ndarray, dz: np.ndarray, dt: np.ndarray) -> float:
        """Longest step, at most a bit over 1, that keeps everything >= 0."""
        longest, box = 1.0 / BOUNDARY, self.bounded
        for value, change in (
            (self.a, da), (self.z, dz), (self.s[box], -da[box]), (self.t[box], dt[box])
        ):  # fmt: skip
            falling = change < 0.0
            if falling.any():
                longest = min(longest, float((-value[falling] / change[falling]).min()))
        return longest


def _start(
    gram: MatrixGram | FactorGram, y: np.ndarray, upper: np.ndarray, ridge: np.ndarray
) -> np.ndarray:
    """Balanced multipliers in the middle of the box, or smaller where it is wide."""
    scale = 1.0 / max(float((gram.diagonal + ridge).mean()), TINY)
    a = np.minimum(0.5 * upper, scale)
    sums = float(a[y > 0.0].sum()), float(a[y < 0.0].sum())
    return np.asarray(a * np.where(y > 0.0, min(sums) / sums[0], min(sums) / sums[1]))
