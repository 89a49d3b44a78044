"""Linear functions of examples: products with features or a Gram matrix, and what rounding may hide.

A function is a vector p: p itself (d,) with features (n, d), or coefficients (n,) of sum_i p_i phi(x_i)
with a Gram matrix. The coefficients of rows that are no examples count in p too.
"""

from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from refsolve.proofs.certificate import Array, Real

EPS = float(np.finfo(np.float64).eps)
EPS_OF_REAL = float(np.finfo(Real).eps)
#: Entries of the data up to which extended precision is affordable.
AFFORDABLE = 4e7
#: Unknowns up to which Cholesky factors are computed in extended precision.
EXACT = 120
#: Rows that a triangular system is solved for at once.
BLOCK = 64


class Sparse(Protocol):
    """What is used of a sparse matrix."""

    shape: tuple[int, ...]

    def tocsr(self) -> Any:
        """The same by rows."""


#: Features as users have them.
Rows: TypeAlias = ArrayLike | Sparse | None


def chunks(n: int, size: int) -> Iterator[slice]:
    """Slices of at most ``size`` of n rows, in order."""
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))


def precision(*sizes: float) -> type[np.floating[Any]]:
    """The floating type for arrays of these sizes: extended where that is affordable."""
    return np.longdouble if sum(sizes) <= AFFORDABLE else np.float64


class Space:
    """Products with examples in one precision.

    Parameters
    ----------
    rows, gram : (N, d) array or sparse matrix, or (N, N) array
        One of the two, of all rows.
    kept : (n,) array of int, optional
        The rows that are examples; all by default.
    real : type, optional
        numpy's longdouble or float64; by default as the size affords.
    blur : float
        Relative error, in units of eps, of the entries of ``gram``.
    """

    def __init__(
        self,
        rows: Rows,
        gram: Array | None = None,
        kept: Array | None = None,
        real: type[np.floating[Any]] | None = None,
        blur: float = 0.0,
    ) -> None:
        given: Any = rows if hasattr(rows, "tocsr") else np.asarray(rows if gram is None else gram)
        self.total = int(given.shape[0])
        self.kept = np.arange(self.total) if kept is None else kept
        self.real: Any = precision(given.shape[0] * given.shape[1]) if real is None else real
        self.eps = float(np.finfo(self.real).eps)
        self.blur = blur if rows is None else 0.0
        self.sparse = hasattr(given, "tocsr")
        self.whole: Any = given.tocsr() if self.sparse else np.asarray(given)
        self.rows: Any = None
        self.gram: Array | None = None
        #: Entries of a vector.
        self.width = int(given.shape[1])
        if gram is None:
            self.rows = self.whole[self.kept].astype(self.real)
            squares = self.rows.multiply(self.rows) if self.sparse else self.rows**2
            self.norms = np.sqrt(np.asarray(squares.sum(axis=1), dtype=float).ravel())
        else:
            self.whole = np.asarray(self.whole, dtype=np.float64).astype(self.real)
            self.gram = self.whole[np.ix_(self.kept, self.kept)]
            self.norms = np.sqrt(np.maximum(self.gram.diagonal(), 0)).astype(float)

    @cached_property
    def sizes(self) -> Array:
        """Absolute values of the Gram matrix of all rows."""
        return abs(self.whole)

    def dense(self) -> Array:
        """The features of the examples as an array."""
        return np.asarray(self.rows.toarray() if self.sparse else self.rows)

    def kernel(self) -> Array:
        """Products between the examples, (n, n), in float64."""
        if self.gram is not None:
            return self.gram.astype(float)
        rows = self.dense().astype(float)
        return rows @ rows.T

    def spread(self) -> float:
        """Root of the mean squared distance of the examples from their mean."""
        if self.gram is None:
            return float(np.sqrt(self.dense().astype(float).var(axis=0).sum()))
        kernel = self.kernel()
        return float(np.sqrt(max(0.0, np.trace(kernel) / len(kernel) - kernel.mean())))

    def all_values(self, p: Array) -> Array:
        """<p, x_i> of all rows, (N,)."""
        whole = self.whole if self.rows is None else self.whole.astype(self.real)
        return np.asarray(whole @ p, dtype=self.real)

    def values(self, p: Array) -> Array:
        """<p, x_i>, (n,)."""
        if self.gram is None:
            return np.asarray(self.rows @ p.astype(self.real), dtype=self.real)
        return self.all_values(p)[self.kept]

    def pull(self, a: Array) -> Array:
        """Sum of a_i x_i."""
        if self.gram is None:
            return np.asarray(self.rows.T @ a.astype(self.real), dtype=self.real)
        full = np.zeros(self.total, dtype=self.real)
        full[self.kept] = a
        return full

    def inner(self, p: Array, q: Array) -> Real:
        """<p, q>."""
        return (p * (q if self.gram is None else self.whole @ q)).sum()

    def square(self, p: Array) -> Real:
        """||p||^2."""
        return max(self.real(0), self.inner(p, p))

    # ---- sizes and rounding

    def reach(self, p: Array) -> Array:
        """Bounds on the sums of the absolute terms of <p, x_i>."""
        if self.gram is not None:
            return np.asarray(self.sizes @ abs(p))[self.kept]
        return np.asarray(self.norms * np.sqrt((p * p).sum()))

    def slip(self, p: Array) -> Array:
        """Rounding in `values`."""
        return ((self.width + 2) * self.eps + self.blur * EPS) * self.reach(p)

    def square_slip(self, p: Array) -> Real:
        """Rounding in `square`; a Gram matrix is positive semidefinite up to that only."""
        if self.gram is None:
            return (self.width + 2) * self.eps * (p * p).sum()
        terms = abs(p) * (self.sizes @ abs(p))
        return (2 * (self.width + 2) * self.eps + self.blur * EPS) * terms.sum()

    def pull_slip(self, a: Array) -> Real:
        """Bound on the length of what rounding in `pull` may hide."""
        if self.gram is not None:
            return self.real(0)
        return (len(self.kept) + 2) * self.eps * (abs(a) * self.norms).sum()

    def apart_slip(self, p: Array, a: Array) -> Real:
        """Rounding in ||p||^2 for a p that is a vector less the pull of a."""
        off = self.pull_slip(a)
        return self.square_slip(p) + 2 * off * np.sqrt(self.square(p)) + off * off

    def expanded(self, values: Array) -> Array:
        """Values (..., n) of the examples for all rows in float64, 0 at the others."""
        full = np.zeros((*values.shape[:-1], self.total))
        full[..., self.kept] = values
        return full


def halves(alpha: Array, up: Array) -> tuple[Real, Real]:
    """Sums over the positives and over the negatives."""
    return alpha[up].sum(), alpha[~up].sum()


def scaled(alpha: Array, up: Array, plus: Real, minus: Real) -> Array:
    """Weights >= 0 whose positives are scaled down to the sum ``plus``, negatives to ``minus``."""
    alpha = alpha.copy()
    for side, target, mass in zip((up, ~up), (plus, minus), halves(alpha, up), strict=True):
        if mass > target:
            alpha[side] *= target / mass
    return alpha


def balanced(alpha: Array, up: Array) -> Array:
    """Weights >= 0 with equal sums of both classes: the heavier one is scaled down."""
    least = min(halves(alpha, up))
    return scaled(alpha, up, least, least)


def cholesky_solver(matrix: Array, shift: Real) -> Callable[[Array], Array]:
    """About r -> (matrix + shift I)^-1 r; whoever calls checks the residual."""
    n = len(matrix)
    work = matrix.copy()
    work[np.diag_indices(n)] += shift
    scale = np.ones(n, work.dtype)
    if n > EXACT or matrix.dtype == np.float64:
        low = work.astype(float)
        scale = 1 / np.sqrt(low.diagonal())
        low = low * scale * scale[:, None]
        low[np.diag_indices(n)] += n * EPS
        work = np.linalg.cholesky(low)
    else:
        floor = float(np.finfo(work.dtype).eps) * work.diagonal()
        for k in range(n):
            work[k, k] = np.sqrt(max(work[k, k], floor[k], shift / 2))
            work[k + 1 :, k] /= work[k, k]
            work[k + 1 :, k + 1 :] -= np.multiply.outer(work[k + 1 :, k], work[k + 1 :, k])
        work = np.tril(work)
    blocks = range(0, n, BLOCK if work.dtype == np.float64 else 1)

    def solve(r: Array) -> Array:
        x = (scale * r).astype(work.dtype)
        for start in blocks:
            part = slice(start, min(start + blocks.step, n))
            x[part] -= work[part, :start] @ x[:start]
            x[part] = _triangular(work[part, part], x[part])
        for start in reversed(blocks):
            part = slice(start, min(start + blocks.step, n))
            x[part] -= work[part.stop :, part].T @ x[part.stop :]
            x[part] = _triangular(work[part, part].T, x[part])
        return scale * x

    return solve


def _triangular(matrix: Array, r: Array) -> Array:
    return r / matrix[0, 0] if len(r) == 1 else np.linalg.solve(matrix, r)
