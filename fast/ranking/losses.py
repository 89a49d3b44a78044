"""Losses of rankings that the inference here suits, each declared by what one more inversion adds.

With c_k negatives above the k-th positive, Delta = sum_k phi_k(c_k), and the j-th negative above it adds
g_k(j) = phi_k(j) - phi_k(j - 1). If g_k(j) does not rise with j, the best rank of a negative does not fall
from one negative to the next: the condition of Mohapatra, Rolinek, Jawahar, Kolmogorov and Kumar (CVPR 2018,
arXiv 1604.08269), which in their notation is delta_j(i + 1) - delta_j(i) monotone in j.
"""

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

Array = NDArray[Any]
METHODS = ("divide_and_conquer", "greedy", "search", "select", "all", "numpy")
_table: NDArray[np.float64] = np.empty((3, 0))


@dataclass(frozen=True)
class AveragePrecision:
    """1 - AP: g_k(j) = (1/P) k/((j + k)(j + k - 1)), for which the kernels have a closed form and exact signs."""

    methods: ClassVar[tuple[str, ...]] = METHODS
    doubt: ClassVar[float] = 0.0

    def table(self, n: int) -> NDArray[np.float64]:
        """No table: the kernels compute g."""
        return np.empty((3, 0))

    def delta(self, ascending: Array) -> float:
        """1 - AP of ascending counts: the mean of c_k/(k + c_k), without cancellation."""
        ranks = np.arange(1, ascending.shape[0] + 1)
        return float(np.mean(ascending / (ranks + ascending)))

    def bend(self, k: Array, c: Array, P: int) -> Array:
        """About g_k(c) - g_k(c + 1)."""
        return np.asarray(2.0 / P * k / (k + c) ** 3)


@dataclass(frozen=True)
class DiscountedGain:
    """1 - DCG/best DCG: g_k(j) = [d(k + j - 1) - d(k + j)]/Z, d(r) = 1/log2(1 + r), Z = d(1) + ... + d(P)."""

    methods: ClassVar[tuple[str, ...]] = ("divide_and_conquer", "greedy")
    #: What ties of rounded sums may cost the greedy of L, in (n + 16) eps (1 + 4 max |s|).
    doubt: ClassVar[float] = 1.1

    def table(self, n: int) -> NDArray[np.float64]:
        """Rows log m, d(m - 1) - d(m) and d(1) + ... + d(m) of the columns m <= n + 1; shared, not to be written."""
        global _table
        if _table.shape[1] < n + 2:
            _table = _discounts(max(n + 2, 2 * _table.shape[1]))
        return _table

    def delta(self, ascending: Array) -> float:
        """1 - DCG/best DCG of ascending counts: log2(1 + c/(1 + k)) d(k) d(k + c) has no cancellation."""
        place = np.arange(2, ascending.shape[0] + 2)
        logs = np.log(place)
        lost = np.log1p(ascending / place) / (logs * np.log(place + ascending))
        return float(np.sum(lost) / np.sum(1.0 / logs))

    def bend(self, k: Array, c: Array, P: int) -> Array:
        """About g_k(c) - g_k(c + 1): the second derivative of d at k + c, over Z."""
        m, best = 1.0 + k + c, np.sum(1.0 / np.log(np.arange(2, P + 2)))
        return np.asarray((1.0 + 2.0 / np.log(m)) / (m * np.log(m)) ** 2 / best)


def _discounts(columns: int) -> NDArray[np.float64]:
    """The table of `DiscountedGain`; sums in long double."""
    table = np.zeros((3, columns))
    m = np.arange(2.0, columns + 1.0)
    logs = np.log(m)
    table[0, 2:] = logs[:-1]
    table[1, 2:] = np.log(2.0) * np.log1p(1.0 / m[:-1]) / (logs[:-1] * logs[1:])
    table[2, 1:] = np.cumsum(np.log(2.0) / logs, dtype=np.longdouble)
    return table


RankLoss = AveragePrecision | DiscountedGain
AVERAGE_PRECISION, NDCG = AveragePrecision(), DiscountedGain()
