"""Products with features or with a Gram matrix, and what rounding may hide in each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cho_factor, cho_solve

from verification.certificates.model import EPS
from verification.errors import InvalidArgumentError

Array = np.ndarray[Any, Any]
#: Unknowns up to which Cholesky factors are computed in extended precision.
EXACT = 120


class Space:
    """Vectors p = sum_i a_i x_i: p itself with features (n, d), the a with a Gram matrix (n, n).

    The a of rows that are no examples count in p too: it is the same function.

    Parameters
    ----------
    rows, gram : one of the two, of all rows
    kept, total : the kept examples, and how many there were.
    real : numpy's longdouble or float64
    blur : relative error of the entries of ``gram``.
    """

    def __init__(
        self, rows: Any, gram: Any, kept: Array, total: int, real: Any, blur: float
    ) -> None:
        self.kept, self.total, self.real = kept, total, real
        self.eps = float(np.finfo(real).eps)
        self.rows: Any = None
        self.gram: Array | None = None
        if gram is not None:
            self.whole = np.asarray(gram, dtype=np.float64).astype(real)
            self.gram = self.whole[np.ix_(kept, kept)]
            self.norms = np.sqrt(np.maximum(self.gram.diagonal(), 0)).astype(float)
            self.width = total
            self.blur = blur
            self.sizes = abs(self.whole)
            return
        self.rows = (rows.tocsr() if hasattr(rows, "tocsr") else np.asarray(rows))[kept]
        self.rows = self.rows.astype(real)
        squares = self.rows.multiply(self.rows) if hasattr(rows, "tocsr") else self.rows**2
        self.norms = np.sqrt(np.asarray(squares.sum(axis=1), dtype=float).ravel())
        self.width, self.blur = self.rows.shape[1], 0.0

    @classmethod
    def of(
        cls,
        name: str,
        rows: Any,
        gram_name: str,
        gram: Any,
        n: int,
        kept: Array,
        real: Any,
        blur: float,
    ) -> Space:
        """One of features and Gram matrix, of n examples."""
        if (rows is None) == (gram is None):
            raise InvalidArgumentError(f"{name}, {gram_name}: expected exactly one of the two")
        given, wanted = (rows, (n,)) if gram is None else (gram, (n, n))
        if getattr(given, "ndim", 0) != 2 or given.shape[: len(wanted)] != wanted:
            raise InvalidArgumentError(
                f"{name if gram is None else gram_name} of shape {getattr(given, 'shape', None)}: "
                f"expected {n} rows, one per label"
                + ("" if gram is None else ", and as many columns")
            )
        return cls(rows, gram, kept, n, real, blur)

    def dense(self) -> Array:
        """The features as an array."""
        rows: Any = self.rows
        return np.asarray(rows.toarray() if hasattr(rows, "tocsr") else rows)

    def vector(self, name: str, p: Any) -> Array:
        """A vector that was given: (d,), or coefficients of all n examples."""
        given = np.asarray(p)
        wanted = self.width if self.gram is None else self.total
        if given.shape != (wanted,) or not np.isfinite(given).all():
            raise InvalidArgumentError(
                f"{name} of shape {given.shape}: expected {wanted} finite numbers"
            )
        return given.astype(self.real)

    def values(self, p: Array) -> Array:
        """<p, x_i>."""
        if self.gram is None:
            return np.asarray(self.rows @ p, dtype=self.real)
        return np.asarray(self.whole @ p, dtype=self.real)[self.kept]

    def pull(self, a: Array) -> Array:
        """Sum of a_i x_i."""
        if self.gram is None:
            return np.asarray(self.rows.T @ a, dtype=self.real)
        full = np.zeros(self.total, dtype=self.real)
        full[self.kept] = a
        return full

    def inner(self, p: Array, q: Array) -> Any:
        """<p, q>."""
        return (p * (q if self.gram is None else self.whole @ q)).sum()

    def square(self, p: Array) -> Any:
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

    def square_slip(self, p: Array) -> Any:
        """Rounding in `square`; a Gram matrix is positive semidefinite up to that only."""
        if self.gram is None:
            return (self.width + 2) * self.eps * (p * p).sum()
        terms = abs(p) * (self.sizes @ abs(p))
        return (2 * (self.width + 2) * self.eps + self.blur * EPS) * terms.sum()

    def pull_slip(self, a: Array) -> Any:
        """Bound on the length of what rounding in `pull` may hide."""
        if self.gram is not None:
            return self.real(0)
        return (len(self.kept) + 2) * self.eps * (abs(a) * self.norms).sum()


def cholesky_solver(matrix: Array, shift: Any) -> Callable[[Array], Array]:
    """About r -> (matrix + shift I)^-1 r; whoever calls checks the residual."""
    n = len(matrix)
    work = matrix.copy()
    work[np.diag_indices(n)] += shift
    if n > EXACT or matrix.dtype == np.float64:
        low = work.astype(float)
        scale = 1 / np.sqrt(low.diagonal())
        low = low * scale * scale[:, None]
        low[np.diag_indices(n)] += n * EPS
        factor = cho_factor(low)
        return lambda r: scale * cho_solve(factor, scale * r.astype(float))
    floor = float(np.finfo(work.dtype).eps) * work.diagonal()
    for k in range(n):
        work[k, k] = np.sqrt(max(work[k, k], floor[k], shift / 2))
        work[k + 1 :, k] /= work[k, k]
        work[k + 1 :, k + 1 :] -= np.multiply.outer(work[k + 1 :, k], work[k + 1 :, k])

    def solve(r: Array) -> Array:
        x = r.astype(work.dtype)
        for k in range(n):
            x[k] = (x[k] - (work[k, :k] * x[:k]).sum()) / work[k, k]
        for k in range(n - 1, -1, -1):
            x[k] = (x[k] - (work[k + 1 :, k] * x[k + 1 :]).sum()) / work[k, k]
        return x

    return solve
