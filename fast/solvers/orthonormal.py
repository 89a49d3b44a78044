"""Coordinates in which offsets, scales and correlations of the features are gone.

X = Q R, Q (n, p) with orthonormal columns, R (p, d) of full row rank. Scores X W' are Q U' with
U = W R'; among all W with these scores the smallest is W = U (R R')^{-1} R, and

    ||W||_F^2 = tr(U G U'),   G = (R R')^{-1} (p, p), ``metric``.

So 1/2 ||W||^2 + loss(X W') is 1/2 tr(U G U') + loss(Q U'): the problem as it was asked. Columns are
taken in the order of what is left of them: then R is graded by rows, triangular solves with it and
Cholesky factors of G + Q'HQ are accurate entry by entry, whatever the scales (Higham 2002, chapters 8,
10, 19). Singular vectors would make G diagonal, but their small entries have no digits left.
"""

from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve, qr, solve_triangular
from scipy.linalg.lapack import dtrtrs

from fast.solvers.rows import is_sparse

NOTHING = 1e-100  # a column this small is 0
DEPENDENT = 16.0  # a column whose rest is below this many eps sqrt(n) of it depends on others
OFFSET, SPREAD = 1e3, 1e4  # of a column over its spread; of a column over the smallest one


def dense(X: Any) -> np.ndarray:
    """X in float64."""
    return np.asarray(X.toarray() if is_sparse(X) else X, dtype=np.float64)


class Orthonormal:
    """The factors of X (n, d), and the way between U (m, p) and W (m, d).

    Attributes
    ----------
    Q : (n, p) array, C-contiguous
    metric : (p, p) array
        ||W||^2 = tr(U G U').
    """

    def __init__(self, X: Any) -> None:
        rows = dense(X)
        n, self.d = rows.shape
        norms = np.sqrt(_squares(rows))
        first = None
        if n > self.d:
            first, rows = qr(rows, mode="economic", check_finite=False)
        free = np.arange(self.d)
        limit = DEPENDENT * np.sqrt(n) * np.finfo(float).eps
        while True:
            turned, R, order = qr(rows[:, free], mode="economic", pivoting=True, check_finite=False)
            order = free[order]
            lost = np.abs(R.diagonal()) <= np.maximum(limit * norms[order[: len(R)]], NOTHING)
            p = int(np.argmax(lost)) if lost.any() else len(R)
            rest = np.sqrt(_squares(R[p:, p:])) > np.maximum(limit * norms[order[p:]], NOTHING)
            if p == len(R) or not rest.any():
                break
            free = np.sort(np.concatenate([order[:p], order[p:][rest]]))
        turned, R = turned[:, :p], R[:p]
        self.basis = order[:p]
        rest = np.ones(self.d, bool)
        rest[self.basis] = False
        self.others = np.flatnonzero(rest)
        self.R = np.empty((p, self.d))  # of all columns
        self.R[:, order] = R
        rest[:] = True
        rest[free] = False
        depend = np.flatnonzero(rest)
        self.R[:, depend] = turned.T @ rows[:, depend]
        self.T = np.asfortranarray(R[:, :p])
        self.Q = np.ascontiguousarray(turned if first is None else first @ turned)
        self.F = solve_triangular(self.T, self.R[:, self.others])  # x_others = x_basis F
        self.shares = cho_factor(np.eye(p) + self.F @ self.F.T) if self.F.size else None
        inverse = self._to_basis(np.eye(p))
        self.metric = np.ascontiguousarray(inverse.T @ self._shared(inverse))

    def _to_basis(self, columns: np.ndarray) -> np.ndarray:
        """Weights of the basis alone that give the scores Q columns; of a step too long not finite."""
        return np.asarray(dtrtrs(self.T, columns)[0]) if columns.size else columns

    def _shared(self, weights: np.ndarray) -> np.ndarray:
        """What the basis keeps of its weights where dependent columns take a part."""
        if self.shares is None:
            return weights
        return np.asarray(cho_solve(self.shares, weights, check_finite=False))

    def weights(self, U: np.ndarray) -> np.ndarray:
        """The smallest W (m, d) with X W' = Q U'."""
        W = np.empty((len(U), self.d))
        kept = self._shared(self._to_basis(U.T))
        W[:, self.basis] = kept.T
        W[:, self.others] = kept.T @ self.F
        return W


def _squares(X: Any) -> np.ndarray:
    """Squared norms of the columns."""
    if is_sparse(X):
        return np.asarray(X.astype(np.float64).power(2).sum(axis=0)).ravel()
    return np.asarray(np.einsum("ij,ij->j", X, X, dtype=np.float64))


def badly_scaled(X: Any) -> dict[int, str]:
    """The columns of X that first-order trainers cannot cope with, and what is wrong with them.

    An offset counts relative to the spread about it, a size (root mean square) relative to the median
    of all columns, at most 1.
    """
    n = X.shape[0]
    mean = np.asarray(X.sum(axis=0, dtype=np.float64)).ravel() / n
    size = np.sqrt(_squares(X) / n)
    spread = np.sqrt(np.maximum(size * size - mean * mean, 0.0))
    doubtful = np.flatnonzero(spread <= 2.0 * size / OFFSET)
    if len(doubtful):
        moved = dense(X[:, doubtful])
        moved = moved - moved[0]
        moved -= moved.mean(axis=0)
        spread[doubtful] = np.sqrt(_squares(moved) / n)
    far = (spread > 4.0 * np.finfo(float).eps * size) & (np.abs(mean) > OFFSET * spread)
    usual = min(float(np.median(size[size > 0.0])), 1.0) if size.any() else 1.0
    apart = (size > SPREAD * usual) | ((size < usual / SPREAD) & (size > 0.0))
    words = {int(j): f"has the size {size[j]:.1g}" for j in np.flatnonzero(apart)}
    for j in np.flatnonzero(far):
        words[int(j)] = f"varies by {spread[j]:.1g} about {mean[j]:.1g}"
    return words
