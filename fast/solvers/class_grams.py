"""The matrices I + X' diag(t_j) X of all classes at once.

X' diag(t_j) X = sum_i t_ij x_i x_i' is linear in t: for m >= d classes one matrix product with the rows'
d (d + 1)/2 products of features, formed for a block of rows at a time, is the cheapest way to all of them;
else, and where few of the t_ij are not 0, each class takes the rows that it needs.
"""

from typing import Any

import numpy as np

AT_ONCE = 1 << 18  # products of features in a block
FEW = 0.3  # part of the t_ij up to which rows are chosen


def weighted_grams(X: np.ndarray, T: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """I + X' diag(T_j) X for the ``wanted`` columns of T >= 0 (n, m): (len(wanted), d, d)."""
    n, d = X.shape
    counts = np.count_nonzero(T, axis=0)[wanted]
    found = np.zeros((len(wanted), d, d))
    if d > len(wanted) or counts.sum() <= FEW * n * len(wanted):
        for place, j in enumerate(wanted):
            t = T[:, j]
            rows = np.flatnonzero(t) if counts[place] <= FEW * n else slice(None)
            some = X[rows]
            np.matmul((some * t[rows, None]).T, some, out=found[place])
    else:
        upper = np.triu_indices(d)
        sums, size = np.zeros((len(upper[0]), len(wanted))), max(1, AT_ONCE // len(upper[0]))
        columns = np.ascontiguousarray(X.T)
        for first in range(0, n, size):
            part = columns[:, first : first + size]
            products = np.concatenate([part[t] * part[t:] for t in range(d)])
            sums += products @ T[first : first + size, wanted]
        found[:, upper[0], upper[1]] = found[:, upper[1], upper[0]] = sums.T
    found[:, np.arange(d), np.arange(d)] += 1.0
    return found


def solved(H: np.ndarray, R: np.ndarray) -> Any:
    """H_j^-1 r_j for every column of R (d, m); where I is lost beside the rest, as much is added as is lost."""
    b = R.T[:, :, None]
    try:
        return np.linalg.solve(H, b)[:, :, 0].T
    except np.linalg.LinAlgError:
        d = H.shape[1]
        lost = 2.0**-50 * d * np.trace(H, axis1=1, axis2=2)
        return np.linalg.solve(H + lost[:, None, None] * np.eye(d), b)[:, :, 0].T
