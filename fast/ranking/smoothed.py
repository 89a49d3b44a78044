r"""The ranking hinge with inversions spread over differences of scores, and its second derivative.

With s_k, t_j the scores of positives and negatives in descending order, M_kj in [0, 1] what part of the pair
is inverted, and phi_k the loss of the k-th positive between whole numbers of inversions,

L_w(s) = max over M of sum_k phi_k(c_k) + 2/(P N) sum_kj [M_kj (t_j - s_k) - w (M_kj - 1/2)^2],

c_k = sum_j M_kj ascending. At w = 0 this is L. Its solution is M_kj = 1/2 + (t_j - x_k)/(2 w), cut off at 0 and 1,
x_k = s_k - (P N/2) phi_k'(c_k); positives whose c_k would not ascend share the mean of x (pool adjacent violators).
Pairs within the window |t_j - x_k| < w move: these are all that L_w'' consists of.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fast._numba import kernel
from fast.ranking.queries import Queries

CHUNK = 1 << 20  # numbers of rows of X that are copied at a time
MOST = 1 << 22  # numbers in the rows of blocks; of more every second, third, ... block is taken
ACCURACY = 1e-6  # of c_k, relative to 1 + c_k


class Windows(NamedTuple):
    """Blocks of positives of the same c and what negatives their windows hold, see `windows`."""

    above: NDArray[np.int64]
    below: NDArray[np.int64]
    start: NDArray[np.int64]
    inverted: NDArray[np.float64]
    low: NDArray[np.int64]
    high: NDArray[np.int64]
    slope: NDArray[np.float64]


@kernel
def _beyond(t, x):
    """How many of t, descending, exceed x."""
    low, high = 0, t.shape[0]
    while low < high:
        middle = (low + high) // 2
        if t[middle] > x:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def _inverted(t, sums, x, width):
    """Sum of M over negatives, and its window."""
    low, high = _beyond(t, x + width), _beyond(t, x - width)
    inside = high - low
    return low + 0.5 * inside + (sums[high] - sums[low] - inside * x) / (2.0 * width), low, high


@kernel
def _gain(first, last, c, scale, table):
    """Mean over the positives k = first + 1..last of ``scale`` phi_k', g_k(c + 1/2), and of its slope."""
    gain = slope = 0.0
    near = max(c, 0.5)
    if table.shape[1]:
        whole = int(near + 0.5)
        part = near + 0.5 - whole
        for k in range(first + 1 + whole, last + 1 + whole):
            rise = table[1, k + 1] - table[1, k]
            gain += table[1, k] + part * rise
            slope += rise
    else:
        for k in range(first + 1, last + 1):
            bottom = (k + near) ** 2 - 0.25
            gain += k / bottom
            slope -= 2.0 * k * (k + near) / bottom**2
    size = last - first
    return scale * gain / size, scale * slope / size if c > 0.5 else 0.0


@kernel
def _root(t, sums, s, first, last, width, scale, table, low, high):
    """The c in low..high that a block of mean score s takes."""
    while high - low > ACCURACY * (1.0 + low):
        c = 0.5 * (low + high)
        x = s - _gain(first, last, c, scale, table)[0]
        if _inverted(t, sums, x, width)[0] > c:
            low = c
        else:
            high = c
    return 0.5 * (low + high)


@kernel
def pool(s, t, sums, width, scale, table, start, count, low, high, mean):
    """Write first positives, c and windows (first negative, end) of blocks, in ``mean`` slopes of ``scale`` phi'."""
    P, N = s.shape[0], t.shape[0]
    m = 0
    for k in range(P):
        start[m], mean[m] = k, s[k]
        count[m] = _root(t, sums, s[k], k, k + 1, width, scale, table, 0.0, float(N))
        m += 1
        while m > 1 and count[m - 2] >= count[m - 1]:
            a, b = start[m - 1] - start[m - 2], k + 1 - start[m - 1]
            mean[m - 2] = (a * mean[m - 2] + b * mean[m - 1]) / (a + b)
            ends = count[m - 1], count[m - 2]
            first = start[m - 2]
            count[m - 2] = _root(
                t, sums, mean[m - 2], first, k + 1, width, scale, table, ends[0], ends[1]
            )
            m -= 1
    start[m] = P
    for b in range(m):
        gain, slope = _gain(start[b], start[b + 1], count[b], scale, table)
        count[b], low[b], high[b] = _inverted(t, sums, mean[b] - gain, width)
        mean[b] = slope
    return m


def windows(queries: Queries, scores: NDArray[np.float64], width: float) -> Windows:
    """The solution M of one query at these scores.

    Rows of positives and of negatives in descending order of score; for each block of positives its first
    (and, last, P), c, the first negative in its window and the first behind it, and (P N/2) phi'' there.
    """
    above, below = np.flatnonzero(queries.positives), np.flatnonzero(~queries.positives)
    above = above[np.argsort(-scores[above], kind="stable")]
    below = below[np.argsort(-scores[below], kind="stable")]
    s, t = scores[above], scores[below]
    P, N, table = len(s), len(t), queries.loss.table(len(scores))
    best = table[2, P] / P if table.shape[1] else 1.0
    sums = np.concatenate([[0.0], np.cumsum(t)])
    start, low, high = (np.empty(P + 1, dtype=np.int64) for _ in range(3))
    count, mean = np.empty(P), np.empty(P)
    m = pool(s, t, sums, width, 0.5 * N / best, table, start, count, low, high, mean)
    return Windows(above, below, start[: m + 1], count[:m], low[:m], high[:m], mean[:m])


def hessian(
    X: Any, queries: Queries, scores: NDArray[np.float64], width: float
) -> NDArray[np.float64] | None:
    """X' L_w''(s) X (d, d) at the scores s of one query, X (n, d) dense or CSR; None where no pair moves.

    A window of m pairs adds 1/(2 w) [sum_j (x_j - x_k)(x_j - x_k)' - r D D'] with D = sum_j (x_j - x_k),
    r = q/(1 + q m), q = (P N/2) |phi''|/(2 w): c_k moves less than its inversions would.
    """
    found = windows(queries, scores, width)
    active, d = np.flatnonzero(found.high > found.low), X.shape[1]
    if not len(active):
        return None
    step = -(-len(active) * d // MOST)
    active = active[::step]
    low, high = found.low[active], found.high[active]
    size = np.diff(found.start)[active].astype(np.float64)
    members = _sums(X, found.above, found.start[:-1][active], found.start[1:][active])
    members /= size[:, None]
    size *= step
    inside, first, last = (high - low).astype(np.float64), int(low.min()), int(high.max())
    covers = np.zeros(last - first + 1)
    np.add.at(covers, low - first, size)
    np.add.at(covers, high - first, -size)
    H = np.zeros((d, d))
    rows = _sums(X, found.below[first:last], low - first, high - first, np.cumsum(covers)[:-1], H)
    cross = (rows * size[:, None]).T @ members
    H += (members * (size * inside)[:, None]).T @ members - cross - cross.T
    q = -found.slope[active] / (2.0 * width)
    D = rows - inside[:, None] * members
    H -= (D * (size * q / (1.0 + q * inside))[:, None]).T @ D
    return H / (width * len(found.above) * len(found.below))


def _sums(
    X: Any, places: np.ndarray, low: np.ndarray, high: np.ndarray,
    weights: np.ndarray | None = None, H: np.ndarray | None = None,
) -> NDArray[np.float64]:  # fmt: skip
    """Sums of the rows X[places[low_b:high_b]], (b, d); adds all weighted squares to H."""
    d = X.shape[1]
    found, before = np.zeros((len(low), d)), np.zeros(d)
    step = max(CHUNK // max(d, 1), 1)
    for a in range(0, len(places), step):
        rows = X[places[a : a + step]]
        rows = np.asarray(rows.toarray() if hasattr(rows, "toarray") else rows, np.float64)
        if H is not None and weights is not None:
            H += (rows * weights[a : a + step, None]).T @ rows
        rows = np.vstack([before, rows]).cumsum(axis=0)
        for ends, sign in ((high, 1.0), (low, -1.0)):
            here = np.flatnonzero((ends > a) & (ends <= a + len(rows) - 1))
            found[here] += sign * rows[ends[here] - a]
        before = rows[-1]
    return found
