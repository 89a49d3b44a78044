"""Newton matrices (I - 11'/m) (x) G + sum_i K_i (x) q_i q_i', small enough to be factorised.

K_i (m, m) are symmetric blocks of rows i whose rows sum to 0, given by what is left of their diagonals,
row after row, (n, m(m-1)/2), and q_i (p,) the rows of Q. The unknown is D (m-1, p), relative to the last
class, its entries row after row.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs

ROWS, MANY = 512, 8192  # at a time
PACKED = 40  # columns of Q up to which q_i q_i' is written out
SMALL = 0.03  # what two others share, in parts of what both share with the true class: no matter

Blocks = Callable[[int, int], np.ndarray]  # of rows first:last


def assemble(
    metric: np.ndarray, blocks: Blocks, Q: np.ndarray, y: np.ndarray, m: int
) -> np.ndarray:
    """The matrix with G = ``metric``, ((m-1)p, (m-1)p), for rows of true classes y, up to `SMALL`."""
    n, p = Q.shape
    lower, columns = np.tril_indices(m, -1), np.tril_indices(p)
    packed = p <= PACKED
    start = (metric[columns] if packed else metric) / -m
    sums = np.empty((len(lower[0]), *start.shape))
    sums[:] = start
    size = ROWS if packed else MANY
    products = np.empty((min(n, size), len(columns[0]) if packed else 0))
    for first in range(0, n, size):
        q, own = Q[first : first + size], y[first : first + size]
        K = blocks(first, first + len(q))
        if packed:
            for j in range(p):  # slices cost less than a gather
                part = products[: len(q), j * (j + 1) // 2 : (j + 1) * (j + 2) // 2]
                np.multiply(q[:, : j + 1], q[:, j, None], out=part)
            sums += K.T @ products[: len(q)]
            continue
        shared = _shared(K, own, m)
        for a, b, found, weights in zip(*lower, sums, np.ascontiguousarray(K.T), strict=True):
            counts = np.flatnonzero(np.abs(weights) > np.minimum(shared[a], shared[b]))
            part, weights = q[counts], weights[counts, None]
            if weights.max(initial=0.0) > 0.0:
                found += part.T @ (weights * part)
            else:  # half the work
                part *= np.sqrt(-weights)
                found -= part.T @ part
    H = np.zeros((m - 1, p, m - 1, p))
    for a, b, found in zip(*lower, sums, strict=True):
        part = found
        if packed:
            part = np.empty((p, p))
            part[columns] = found
            part[columns[1], columns[0]] = found
        if a < m - 1:
            H[a, :, b] = H[b, :, a] = part
            H[a, :, a] -= part
        H[b, :, b] -= part
    return H.reshape((m - 1) * p, (m - 1) * p)


def _shared(K: np.ndarray, y: np.ndarray, m: int) -> np.ndarray:
    """`SMALL` |K_ay| of all classes a, (m, n); 0 for y itself, whose pairs all count."""
    place = np.zeros((m, m), np.int64)
    place[np.tril_indices(m, -1)] = np.arange(K.shape[1])
    found = SMALL * np.abs(np.take_along_axis(K, (place + place.T)[y], axis=1).T)
    found[y, np.arange(len(y))] = 0.0
    return found


class Factor:
    """Cholesky's of a symmetric matrix; what rounding takes from small pivots is given back.

    The matrix is brought to a diagonal of ones before, which changes no digit of the result.
    """

    def __init__(self, H: np.ndarray) -> None:
        self.scale = 1.0 / np.sqrt(H.diagonal())
        jitter, diagonal = 0.0, H.diagonal() * self.scale * self.scale
        while True:
            scaled = H * self.scale
            scaled *= self.scale[:, None]
            scaled.reshape(-1)[:: len(scaled) + 1] = diagonal
            self.lower, failed = dpotrf(scaled.T, lower=1, clean=0, overwrite_a=1)
            if not failed:
                return
            more = max(9.0 * jitter, 1e-15)
            jitter += more
            diagonal += more

    @classmethod
    def of(cls, lower: np.ndarray, scale: np.ndarray) -> "Factor":
        """From its parts."""
        found = object.__new__(cls)
        found.lower, found.scale = lower, scale
        return found

    def solve(self, right: np.ndarray) -> np.ndarray:
        """H^-1 right, of the same shape, whose rows make up one or several right sides."""
        sides = right.reshape(-1, len(self.scale)) * self.scale
        x, _ = dpotrs(self.lower, sides.T, lower=1)
        return np.asarray((x.T * self.scale).reshape(right.shape))
