"""Kernel matrices by their rows, which are computed when they are needed and not all kept."""

from collections.abc import Callable
from typing import Any

import numpy as np

from fast.solvers.box_interior_point import MatrixGram
from fast.solvers.rounding import Gram
from fast.solvers.rows import is_sparse

ENTRIES = 1 << 17  # of a block of rows
PART = 256
LEAST = {"f": -87.0, "d": -700.0}  # exponents
NEAR = 1e-9  # share of a coefficient
RESOLVED = 64.0  # gamma ||x||^2 up to which float32 resolves distances
MEMORY = 256 << 20  # bytes of rows that a solver keeps

Between = Callable[[Any, Any], np.ndarray]


class KernelRows:
    """``scale`` times a positive semidefinite kernel between the rows of X, K = scale k(x_i, x_j).

    ``between(X, Y)`` are values of k. ``gamma`` says that it is exp(-gamma ||x - y||^2) + ``constant``,
    which is then computed here, about the mean: what examples have in common costs no digits.
    """

    held: Any = None  # rows that a solver keeps

    def __init__(
        self, X: Any, between: Between, gamma: float | None = None, constant: float = 0.0,
        scale: float = 1.0,
    ) -> None:  # fmt: skip
        self.X, self.between, self.gamma, self.constant, self.scale = (
            X,
            between,
            gamma,
            constant,
            scale,
        )
        self.n = X.shape[0]
        self.shape, self.dtype = (self.n, self.n), np.dtype(np.float64)
        self.factors: dict[Any, Any] = {}
        self.last = np.empty(0), np.empty(0), np.empty(0)
        if is_sparse(X) or not np.isfinite(X).all():
            self.gamma = None
        if self.gamma is not None:
            self.center = X.mean(axis=0, dtype=np.float64)
            size = -float(self._factor(np.float64)[1][:, -1].min())
            self.exact = size > RESOLVED
            self.gamma = self.gamma if np.isfinite(size) else None
        if self.gamma is not None:
            self.diagonal = np.full(self.n, scale * (1.0 + constant))
            return
        self.X = X.astype(np.float64, copy=False)
        parts = (self.X[i : i + PART] for i in range(0, self.n, PART))
        self.diagonal = scale * np.concatenate([between(part, part).diagonal() for part in parts])

    def _factor(self, dtype: Any) -> tuple[Any, Any]:
        """L and R whose products <l_i, r_j> are -gamma ||x_i - x_j||^2."""
        if dtype not in self.factors:
            rows = self.X.astype(np.float64) - self.center
            assert self.gamma is not None
            squares = self.gamma * np.einsum("ij,ij->i", rows, rows)[:, None]
            ones = np.ones((self.n, 1))
            pair = (
                np.hstack([2.0 * self.gamma * rows, -squares, ones]),
                np.hstack([rows, ones, -squares]),
            )
            self.factors[dtype] = tuple(np.ascontiguousarray(half, dtype=dtype) for half in pair)
        return self.factors[dtype]

    def rows(
        self, which: np.ndarray, dtype: Any, columns: np.ndarray | None = None, out: Any = None
    ) -> np.ndarray:
        """K_ij for i in ``which`` and all j, or those in ``columns``; written to ``out``, if given."""
        if self.gamma is None:
            others = self.X if columns is None else self.X[columns]
            found = self.between(self.X[which], others)
        else:
            left, right = self._factor(np.float64 if self.exact else dtype)
            right = right if columns is None else right[columns]
            direct = out is not None and left.dtype == out.dtype
            found = np.matmul(left[which], right.T, out=out if direct else None)
            np.clip(found, LEAST[found.dtype.char], 0.0, out=found)  # numbers near 0 are slow
            np.exp(found, out=found)
            if self.constant:
                found += self.constant
        if self.scale != 1.0:
            found *= self.scale
        if out is not None and found is not out:
            out[:] = found
        return found if out is None else out

    def products(self, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """K c and |K| |c|, in the arithmetic of c; the last ones are kept."""
        if c.dtype == self.last[0].dtype and np.array_equal(c, self.last[0]):
            return self.last[1:]
        support, step = np.flatnonzero(c), max(ENTRIES // self.n, 1)
        pair, out = np.stack([c, abs(c)]), np.zeros((2, self.n), c.dtype)
        for start in range(0, len(support), step):
            which = support[start : start + step]
            block = self.rows(which, np.float64).astype(c.dtype, copy=False)
            if self.gamma is not None:  # no entry is negative
                out += pair[:, which] @ block
                continue
            out[0] += c[which] @ block
            out[1] += pair[1, which] @ np.abs(block, out=block)
        self.last = c.copy(), out[0], out[1]
        return self.last[1:]

    def product(self, c: np.ndarray) -> np.ndarray:
        """K c."""
        return self.products(c)[0]

    def __matmul__(self, c: np.ndarray) -> np.ndarray:
        return self.product(c)

    def __len__(self) -> int:
        return self.n

    def whole(self) -> MatrixGram:
        """All of K."""
        parts = (np.arange(i, min(i + PART, self.n)) for i in range(0, self.n, PART))
        return MatrixGram(np.concatenate([self.rows(part, np.float64) for part in parts]))


class RowGram(Gram):
    """`Gram` of rows that are computed when they are needed.

    Vectors that agree with the last one in all but a share of each coefficient cost no product.
    """

    def __init__(self, K: KernelRows, real: Any) -> None:
        self.real, self.eps = real, float(np.finfo(real).eps)
        self.n = self.width = K.n
        self.K, self.norms = K, np.sqrt(K.diagonal)

    def values(self, p: Any) -> Any:
        """<p, x_i>, (n,)."""
        return self.K.products(p)[0]

    def reach(self, p: Any) -> Any:
        """Sums of absolute terms of `values`."""
        return self.K.products(p)[1]

    def slip(self, p: Any) -> Any:
        """Rounding in `values`, of as many terms as p has."""
        return (np.count_nonzero(p) + 4) * self.eps * self.reach(p)

    def square(self, p: Any) -> tuple[Any, Any]:
        """p'Kp, and its rounding."""
        slip = 2 * (abs(p) * self.slip(p)).sum()
        return max((p * self.values(p)).sum(), self.real(0)), slip

    def pulled_square(self, a: Any, size: Any) -> Any:
        """As of `Rows`."""
        p = self._near(a)
        change, off = self._share(a - p, p), (self.n + 8) * self.eps * self._share(size, p)
        found, slip = self.square(p)
        terms = (abs(p) * self.reach(p)).sum()
        found += 2 * ((a - p) * self.values(p)).sum()
        return found + 2 * slip + terms * (change**2 + off * (2 + 2 * change + off))

    def negative(self, p: Any, a: Any, size: Any) -> Any:
        """As of `Rows`."""
        if np.array_equal(p, a):
            return self.real(0)
        near, spread = self._near(a), size + abs(p)
        if self._alike(p, near):
            share = self._share(p - a, near) + (self.n + 8) * self.eps * self._share(spread, near)
            return 2 * share**2 * (abs(near) * self.reach(near)).sum()
        d, off = p - a, (self.n + 8) * self.eps * spread
        most = 2 * self.K.products(off)[1]
        (product, reach), terms = self.K.products(d), np.count_nonzero(d) + 4
        slip = 2 * terms * self.eps * (abs(d) * reach).sum() + (off * (2 * reach + most)).sum()
        return max(slip - (d * product).sum(), self.real(0))

    def _near(self, a: Any) -> Any:
        """The last vector, or this one if they differ by more than rounding."""
        last = self.K.last[0]
        return last if last.dtype == a.dtype and self._alike(a, last) else a

    def _alike(self, a: Any, p: Any) -> bool:
        return np.array_equal(a != 0, p != 0) and self._share(a - p, p) <= NEAR

    @staticmethod
    def _share(d: Any, p: Any) -> Any:
        """The largest |d_i|/|p_i|; d_i is 0 where p_i is."""
        return np.divide(abs(d), abs(p), out=np.zeros_like(p), where=p != 0).max(initial=0)
