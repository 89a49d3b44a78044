"""The cuts that a convex function of the scores has been given so far.

A cut is a global lower bound F(s) >= offset + <a, s>, met with equality at the scores s it was asked
at. Of each cut the bundle keeps the offset, X'a (d,) for the small quadratic programs, and the
nonzero entries of a, from which everything can be recomputed.
"""

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse as sp

from fast.errors import InvalidParameterError, InvalidTypeError
from fast.solvers.rows import is_sparse, squared_norms

FEW = 0.4  # part of the rows
BLOCK = 1 << 20  # numbers that a conversion to float64 holds at a time
ROUNDED = 1 << 20, 1 << 30  # numbers of X between which a copy in float32 is worth its memory
RANGE = 1e-15, 1e15  # of the largest of them
CACHED = 1 << 16  # numbers of gathered rows, which are read again at once


class Product:
    """Products with X (n, d), dense or CSR, float32 or float64.

    Fast ones are taken in the dtype of X, or from ``rounded``, exact ones always in float64.

    Raises
    ------
    InvalidTypeError, InvalidParameterError
        X is no such matrix.
    """

    def __init__(self, X: Any) -> None:
        expected = "a dense or CSR matrix, float64 or float32"
        if getattr(X, "dtype", None) not in (np.float64, np.float32):  # integers would round w
            given = f"{type(X).__name__}, dtype {getattr(X, 'dtype', 'unknown')}"
            raise InvalidTypeError("X", given, expected, "convert X to float64")
        if X.ndim != 2:
            raise InvalidParameterError("X", f"shape {X.shape}", expected, "reshape X")
        self.X, self.shape = X, X.shape
        self.single = X.dtype == np.float32
        self.rough = X

    def rounded(self) -> bool:
        """Whether fast products are in float32: of a large matrix they are, by a copy."""
        size = self.shape[0] * self.shape[1]
        if self.single or is_sparse(self.X) or not ROUNDED[0] <= size <= ROUNDED[1]:
            return self.single
        with np.errstate(over="ignore"):
            copy = self.X.astype(np.float32)
        if RANGE[0] <= max(float(copy.max()), -float(copy.min())) <= RANGE[1]:
            self.rough = copy
        return self.rough is copy

    @property
    def reach(self) -> float:
        """Largest length of a row, nearly."""
        X = self.rough
        squares = squared_norms(X) if is_sparse(X) else np.einsum("ij,ij->i", X, X)
        return float(np.sqrt(squares.max(initial=0.0)))

    def scores(self, w: np.ndarray, exact: bool = True) -> np.ndarray:
        """X w (n,)."""
        X = self.X if exact else self.rough
        if not (exact and self.single):
            with np.errstate(invalid="ignore"):  # OpenBLAS may say so for nothing: numpy #24067
                return np.asarray(X @ w.astype(X.dtype), dtype=np.float64)
        return np.concatenate([self._block(rows) @ w for rows in self._blocks()])

    def gradients(self, a: Any, exact: bool = True) -> np.ndarray:
        """A X (m, d) for coefficients A (m, n), CSR, or X'a (d,) for a vector."""
        if a.ndim == 1:
            where = np.flatnonzero(a)
            if len(where) <= FEW * len(a):  # gathering these rows costs less than reading all
                return self._few(where, a[where], exact)
        X, wide = self.X if exact else self.rough, a.ndim > 1
        if not (exact and self.single) and (is_sparse(X) or not wide):
            a = a.astype(X.dtype)
            with np.errstate(invalid="ignore"):  # as in scores
                product = a @ X if wide else X.T @ a
            return np.asarray(product.toarray() if is_sparse(product) else product, np.float64)
        total = np.zeros((a.shape[0], self.shape[1]) if wide else self.shape[1])
        a = a.tocsc() if wide else a
        for rows in self._blocks():
            block = self._block(rows)
            part = a[rows] if not wide else a[:, rows] if is_sparse(block) else a[:, rows].toarray()
            product = part @ block if wide else block.T @ part
            total += product.toarray() if is_sparse(product) else product
        return total

    def _few(self, where: np.ndarray, a: np.ndarray, exact: bool) -> np.ndarray:
        total = np.zeros(self.shape[1])
        step = max((BLOCK if is_sparse(self.X) else CACHED) // max(self.shape[1], 1), 64)
        for i in range(0, len(where), step):
            rows = (self.X if exact else self.rough)[where[i : i + step]]
            rows = rows.astype(np.float64, copy=False) if exact else rows
            with np.errstate(invalid="ignore"):  # as in scores
                total += rows.T @ a[i : i + step].astype(rows.dtype)
        return total

    def _blocks(self) -> list[slice]:
        step = max(BLOCK // max(self.shape[1], 1), 1)
        return [
            slice(i, min(i + step, self.shape[0])) for i in range(0, max(self.shape[0], 1), step)
        ]

    def _block(self, rows: slice) -> Any:
        return self.X[rows].astype(np.float64, copy=False)


class Mapped(Product):
    """Products with the rows Phi_y(x_i), x_i in the y-th of m blocks (Lapin et al. 2015, section 2.3).

    Row im + y; w is W (m, d) by rows. No row is built.
    """

    def __init__(self, X: Any, m: int) -> None:
        super().__init__(X.astype(np.float64, copy=False))
        self.n, self.m = X.shape[0], m
        self.shape = self.n * m, m * X.shape[1]

    def scores(self, w: np.ndarray, exact: bool = True) -> np.ndarray:
        """XW' by rows, (nm,)."""
        X = self.X if exact else self.rough
        W = w.reshape(self.m, -1).astype(X.dtype, copy=False)
        return np.asarray(X @ W.T, dtype=np.float64).ravel()

    def gradients(self, a: Any, exact: bool = True) -> np.ndarray:
        """As of `Product`."""
        if a.ndim > 1:
            return np.array([self.gradients(row, exact) for row in a.toarray()])
        X = self.X if exact else self.rough
        found = sp.csr_array(a.reshape(self.n, self.m), dtype=X.dtype).T @ X
        return np.asarray(found.toarray() if is_sparse(found) else found, np.float64).ravel()


class StoredCut(NamedTuple):
    """Nonzero entries of the coefficients of a cut."""

    where: np.ndarray
    values: np.ndarray


class Cuts:
    """Offsets b (m,), gradients G (m, d) and their Gram matrix, grown one cut at a time."""

    def __init__(self, n: int, d: int, capacity: int = 32) -> None:
        self.n, self.m = n, 0
        self._b, self._G = np.empty(capacity), np.empty((capacity, d))
        self._gram = np.empty((capacity, capacity))
        self.stored: list[StoredCut] = []
        self.idle = np.zeros(0, np.int64)  # iterations since the cut last carried weight

    @property
    def b(self) -> np.ndarray:
        """Offsets (m,)."""
        return self._b[: self.m]

    @property
    def G(self) -> np.ndarray:
        """Gradients (m, d)."""
        return self._G[: self.m]

    @property
    def gram(self) -> np.ndarray:
        """G G' (m, m)."""
        return self._gram[: self.m, : self.m]

    @property
    def in_use(self) -> int:
        """Cuts with weight in the last quadratic program."""
        return int(np.count_nonzero(self.idle < 0))

    def add(self, offset: float, coefficients: np.ndarray, gradient: np.ndarray) -> bool:
        """Take in one cut; False if it is there already."""
        where = np.flatnonzero(coefficients).astype(np.int32 if self.n < 2**31 else np.int64)
        cut = StoredCut(where, coefficients[where])
        for t in np.flatnonzero(self.b == offset):
            if all(np.array_equal(a, b) for a, b in zip(cut, self.stored[t], strict=True)):
                return False
        if self.m == len(self._b):
            self._resize(2 * self.m)
        m = self.m
        self._b[m], self._G[m] = offset, gradient
        self._gram[m, : m + 1] = self._G[: m + 1] @ gradient
        self._gram[: m + 1, m] = self._gram[m, : m + 1]
        stored, idle = [*self.stored, cut], np.append(self.idle, 0)
        self.stored, self.idle, self.m = stored, idle, m + 1  # at once: Ctrl-C finds whole cuts
        return True

    def keep(self, which: np.ndarray) -> None:
        """Forget all cuts but these (indices, ascending)."""
        m = len(which)
        self._b[:m], self._G[:m] = self.b[which], self.G[which]
        self._gram[:m, :m] = self.gram[np.ix_(which, which)]
        self.stored, self.idle, self.m = [self.stored[t] for t in which], self.idle[which], m

    def coefficients(self) -> sp.csr_array:
        """All coefficients (m, n)."""
        sizes = [len(cut.where) for cut in self.stored]
        none = [np.empty(0, np.int32)], [np.empty(0)]
        indices = np.concatenate([cut.where for cut in self.stored] or none[0])
        values = np.concatenate([cut.values for cut in self.stored] or none[1])
        pointers = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        return sp.csr_array((values, indices, pointers), shape=(self.m, self.n))

    def recompute(self, product: Product) -> None:
        """Gradients and Gram matrix anew, exactly."""
        self._G[: self.m] = product.gradients(self.coefficients())
        self._gram[: self.m, : self.m] = self.G @ self.G.T

    def _resize(self, capacity: int) -> None:
        b, G = np.empty(capacity), np.empty((capacity, self._G.shape[1]))
        gram = np.empty((capacity, capacity))
        b[: self.m], G[: self.m], gram[: self.m, : self.m] = self.b, self.G, self.gram
        self._b, self._G, self._gram = b, G, gram
