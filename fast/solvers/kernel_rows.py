"""Kernel matrices by their rows, which are computed when they are needed and not all kept."""

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp

from fast.solvers.rows import dense, is_sparse

ENTRIES = 1 << 19  # of a block of rows
RESOLVED = 64.0  # gamma ||x||^2 up to which float32 resolves distances
MEMORY = 256 << 20  # bytes of rows that a solver keeps

Between = Callable[[Any, Any], np.ndarray]


class KernelRows:
    """K (n, n) of the rows of X, by ``between(X, Y)``, that is symmetric and positive semidefinite.

    ``gamma`` says that it is exp(-gamma ||x - y||^2) + ``constant``, which is then computed here, about
    the mean: what the examples have in common costs no digits. It stands for K in products ``K @ c``.
    """

    def __init__(
        self, X: Any, between: Between, gamma: float | None = None, constant: float = 0.0
    ) -> None:
        self.X, self.between, self.gamma, self.constant = X, between, gamma, constant
        self.n = X.shape[0]
        self.shape, self.dtype = (self.n, self.n), np.dtype(np.float64)
        self.factors: dict[Any, Any] = {}
        if gamma is not None:
            self.center = 0.0 if is_sparse(X) else X.mean(axis=0, dtype=np.float64)
            self.diagonal = np.full(self.n, 1.0 + constant)
            self.exact = False
            self.exact = gamma * float(self._squares(np.float64).max(initial=0.0)) > RESOLVED
            return
        length = max(int(np.sqrt(ENTRIES)), 1)
        parts = (X[i : i + length] for i in range(0, self.n, length))
        self.diagonal = np.concatenate([between(part, part).diagonal() for part in parts])

    def _squares(self, dtype: Any) -> np.ndarray:
        return np.asarray(self._factor(dtype)[1])

    def _factor(self, dtype: Any) -> tuple[Any, np.ndarray]:
        """Rows about the mean, and their squared lengths."""
        if dtype not in self.factors:
            if is_sparse(self.X):
                rows = sp.csr_array(self.X.astype(dtype))
                squares = np.asarray(rows.multiply(rows).sum(axis=1)).ravel()
            else:
                rows = (self.X - self.center).astype(dtype)
                squares = np.einsum("ij,ij->i", rows, rows)
            self.factors[dtype] = rows, squares.astype(dtype)
        return self.factors[dtype]

    def rows(self, which: np.ndarray, dtype: Any, columns: np.ndarray | None = None) -> np.ndarray:
        """K_ij for i in ``which`` and all j, or those in ``columns``."""
        if self.gamma is None:
            others = self.X if columns is None else self.X[columns]
            return self.between(self.X[which], others).astype(dtype, copy=False)
        precise = dtype is np.float64 or self.exact
        rows, squares = self._factor(np.float64 if precise else np.float32)
        gamma = squares.dtype.type(self.gamma)
        some, across = rows[which] * (2 * gamma), rows if columns is None else rows[columns]
        found = dense(some @ across.T)
        found -= gamma * (squares if columns is None else squares[columns])
        found -= (gamma * squares[which])[:, None]
        np.minimum(found, 0, out=found)
        np.exp(found, out=found)
        if self.constant:
            found += self.constant
        return found.astype(dtype, copy=False)

    def products(self, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """K c and |K| |c|."""
        support = np.flatnonzero(c)
        out = np.zeros(self.n, c.dtype), np.zeros(self.n, c.dtype)
        step = max(ENTRIES // self.n, 1)
        for start in range(0, len(support), step):
            which = support[start : start + step]
            block = self.rows(which, np.float64)
            if c.dtype != np.float64:
                block = block.astype(c.dtype)
            out[0][:] += c[which] @ block
            if self.gamma is None:
                np.abs(block, out=block)
            out[1][:] += abs(c[which]) @ block
        return out

    def __matmul__(self, c: np.ndarray) -> np.ndarray:
        return self.products(c)[0]

    def __len__(self) -> int:
        return self.n

    def product(self, c: np.ndarray) -> np.ndarray:
        """K c."""
        return self.products(c)[0]

    def matrix(self) -> np.ndarray:
        """K itself."""
        return np.concatenate([
            self.rows(np.arange(i, min(i + 256, self.n)), np.float64)
            for i in range(0, self.n, 256)
        ])  # fmt: skip
