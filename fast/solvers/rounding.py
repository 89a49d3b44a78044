"""Products with features or with a kernel matrix, and what rounding may hide in each of them.

The claims of a fitted estimator are computed once more from its attributes, in extended precision
where float64 does not resolve them, and with a bound on their own rounding: a sum of n products
in arithmetic with unit eps is wrong by at most (n + 2) eps times the sum of their absolute values.
Where a platform has no extended precision (eps of longdouble = eps of float64) the bounds are wider.
"""

from collections.abc import Callable
from typing import Any

import numpy as np

from fast.errors import ContradictionError
from fast.solvers.rows import TINY, squared_norms

EPS = float(np.finfo(np.float64).eps)
SMALL = 100_000  # multiplications that cost nothing in extended precision
AFFORDABLE = 100_000_000
NEGLIGIBLE = 0.01  # of tol: float64 is enough if its rounding is less


def precisions(products: int, times: int = 1, small: int = SMALL) -> list[Any]:
    """The arithmetics worth trying for ``times`` so many multiplications, in this order."""
    if products * times <= small:
        return [np.longdouble]
    return [np.float64, np.longdouble] if products <= AFFORDABLE else [np.float64]


def enough(primal: float, dual: float, claimed: tuple[float, float], tol: float) -> bool:
    """Whether the rounding in two bounds hides nothing that matters for ``tol``.

    It does if they miss a ``tol`` that the ``claimed`` P and D, without it, do not.
    """
    size, gap = max(abs(primal), abs(dual)), max(claimed[0] - claimed[1], 0.0)
    missed = gap <= tol * size < primal - dual
    return primal - dual - gap <= NEGLIGIBLE * tol * size and not missed


def confirmed(
    levels: list[Any],
    bounds: Callable[[Any], tuple[float, float]],
    claimed: tuple[float, float],
    tol: float,
) -> tuple[float, float]:
    """The best of the ``bounds`` (P, D) in one arithmetic after the other, until they are `enough`.

    Raises
    ------
    ContradictionError
        D > P.
    """
    primal, dual = np.inf, -np.inf
    for real in levels:
        with np.errstate(all="ignore"):
            above, below = bounds(real)
        # a bound that is nan, of sums that overflow, bounds nothing
        primal, dual = consistent(float(np.fmin(above, primal)), float(np.fmax(below, dual)))
        if enough(primal, dual, claimed, tol):
            break
    return primal, dual


def consistent(primal: float, dual: float) -> tuple[float, float]:
    """The bounds, rounded outwards, unless they contradict each other."""
    if dual > primal:
        raise ContradictionError(primal, dual)
    return primal, dual


def up(value: Any) -> float:
    """A bound from above as float64, which must not lower it."""
    rounded = np.float64(value)
    return float(np.nextafter(rounded, np.inf) if rounded < value else rounded)


def down(value: Any) -> float:
    """A bound from below as float64, which must not raise it."""
    return -up(-value)


def row_norms(X: Any) -> np.ndarray:
    """Upper bounds on ||x_i||, in float64."""
    short = X if X.dtype in (np.float32, np.float64) else X.astype(np.float64)
    return bounded_norms(squared_norms(short), X.shape[1])


def bounded_norms(squares: np.ndarray, d: int) -> np.ndarray:
    """The same from sums of d squares in float64."""
    squares = np.maximum(squares, TINY)  # below which they may be taken for 0
    return np.asarray(np.sqrt(squares) * (1.0 + (d + 4) * EPS))


class Rows:
    """Vectors p (d,) seen from the rows of X (n, d), dense or CSR."""

    def __init__(self, X: Any, real: Any) -> None:
        self.real, self.eps = real, float(np.finfo(real).eps)
        self.n, self.width = X.shape
        self.X: Any = X.astype(real, copy=False)
        self.norms = row_norms(X)

    def values(self, p: Any) -> Any:
        """<p, x_i>, (n,); for p (m, d) all of them, (n, m)."""
        return np.asarray(self.X @ p.T, dtype=self.real)

    def reach(self, p: Any) -> Any:
        """Bounds on sum_l |p_l x_il|."""
        return self.norms * up(np.sqrt((p * p).sum()))

    def slip(self, p: Any) -> Any:
        """Rounding in `values` of one p."""
        return (self.width + 4) * self.eps * self.reach(p)

    def pull(self, a: Any) -> Any:
        """Sum of a_i x_i."""
        return np.asarray(self.X.T @ a, dtype=self.real)

    def square(self, p: Any) -> tuple[Any, Any]:
        """||p||^2, and its rounding."""
        found = (p * p).sum()
        return found, (self.width + 4) * self.eps * found

    def pulled_square(self, a: Any, size: Any) -> Any:
        """An upper bound on ||sum a_i x_i||^2, for a_i that are off by up to (n + 8) eps size_i."""
        found = self.pull(a)
        length = np.sqrt((found * found).sum()) * (1 + (self.width + 4) * self.eps)
        return (length + 2 * (self.n + 8) * self.eps * (size * self.norms).sum()) ** 2

    def negative(self, p: Any, a: Any, size: Any) -> Any:
        """An upper bound on -||p - sum a_i x_i||^2, but at least 0; ``size`` as above."""
        return self.real(0)


class MappedRows(Rows):
    """The same from the rows Phi_y(x_i), x_i in the y-th of m blocks, by rows (i, y); p is (md,)."""

    def __init__(self, X: Any, m: int, real: Any) -> None:
        super().__init__(X, real)
        self.m, self.norms = m, np.repeat(self.norms, m)
        self.n, self.width = self.n * m, self.width * m

    def values(self, p: Any) -> Any:
        """XW' by rows, (nm,)."""
        return np.asarray(self.X @ p.reshape(self.m, -1).T, dtype=self.real).ravel()

    def pull(self, a: Any) -> Any:
        """A'X by rows."""
        return np.asarray(self.X.T @ a.reshape(-1, self.m), dtype=self.real).T.ravel()


class Gram:
    """Vectors p = sum_i p_i x_i by their coefficients p (n,) and the matrix K of all <x_i, x_j>."""

    def __init__(self, K: Any, real: Any) -> None:
        self.real, self.eps = real, float(np.finfo(real).eps)
        self.n = self.width = len(K)
        self.K: Any = np.asarray(K, dtype=real)
        self.sizes = abs(self.K)
        self.last: dict[str, tuple[Any, Any]] = {}
        self.norms = np.sqrt(np.maximum(np.asarray(self.K.diagonal(), dtype=np.float64), 0.0))

    def values(self, p: Any) -> Any:
        """<p, x_i>, (n,)."""
        return self._once("values", p, lambda: self.K @ p)

    def reach(self, p: Any) -> Any:
        """Sums of absolute terms of `values`."""
        return self._once("reach", p, lambda: self.sizes @ abs(p))

    def _once(self, name: str, p: Any, product: Callable[[], Any]) -> Any:
        """A product with p, which is asked for several times in a row."""
        if self.last.get(name, (None,))[0] is not p:
            self.last[name] = p, product()
        return self.last[name][1]

    def slip(self, p: Any) -> Any:
        """Rounding in `values`."""
        return (self.width + 4) * self.eps * self.reach(p)

    def pull(self, a: Any) -> Any:
        """The coefficients themselves."""
        return a

    def square(self, p: Any) -> tuple[Any, Any]:
        """p'Kp, and its rounding; K is positive semidefinite up to that only."""
        terms = (abs(p) * self.reach(p)).sum()
        return max((p * self.values(p)).sum(), self.real(0)), 2 * (self.n + 4) * self.eps * terms

    def pulled_square(self, a: Any, size: Any) -> Any:
        """As of `Rows`."""
        found, slip = self.square(a)
        off = (self.n + 8) * self.eps * size
        return found + slip + (off * self.reach(2 * abs(a) + off)).sum()

    def negative(self, p: Any, a: Any, size: Any) -> Any:
        """As of `Rows`; above 0 where K is not positive semidefinite, by its own rounding."""
        d = p - a
        if not d.any():
            return self.real(0)
        off, reach = (self.n + 8) * self.eps * (size + abs(p)), self.sizes @ abs(d)
        slip = 2 * (self.n + 4) * self.eps * (abs(d) * reach).sum()
        slip += (off * (2 * reach + self.sizes @ off)).sum()
        return max(slip - (d * (self.K @ d)).sum(), self.real(0))
