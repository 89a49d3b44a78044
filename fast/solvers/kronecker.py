"""Newton matrices G_1 (x) G_2 + sum_i K_i (x) q_i q_i', small enough to be factorised.

K_i (b, b) are symmetric blocks of rows i, given by their lower triangles row after row, (n, b(b+1)/2),
and q_i (p,) the rows of Q. The unknown is D (b, p), its entries row after row.
"""

from collections.abc import Callable

import numpy as np
from scipy.linalg.lapack import dpotrf, dpotrs, dtrtri

ROWS = 512  # at a time
PACKED = 40  # columns of Q up to which q_i q_i' is written out

Blocks = Callable[[int, int], np.ndarray]  # of rows first:last


def assemble(blocks: Blocks, Q: np.ndarray, b: int) -> np.ndarray:
    """sum_i K_i (x) q_i q_i', (bp, bp)."""
    n, p = Q.shape
    lower, columns = np.tril_indices(b), np.tril_indices(p)
    packed = p <= PACKED
    sums = np.zeros((len(lower[0]), *((len(columns[0]),) if packed else (p, p))))
    products = np.empty((min(n, ROWS), len(columns[0]) if packed else 0))
    for first in range(0, n, ROWS):
        q = Q[first : first + ROWS]
        K = blocks(first, first + len(q))
        if packed:
            for a in range(p):  # slices cost less than a gather
                part = products[: len(q), a * (a + 1) // 2 : (a + 1) * (a + 2) // 2]
                np.multiply(q[:, : a + 1], q[:, a, None], out=part)
            sums += K.T @ products[: len(q)]
        else:
            for pair, weights in enumerate(K.T):
                sums[pair] += q.T @ (weights[:, None] * q)
    H = np.empty((b, p, b, p))
    for s, t, found in zip(*lower, sums, strict=True):
        part = found
        if packed:
            part = np.empty((p, p))
            part[columns] = found
            part[columns[1], columns[0]] = found
        H[s, :, t] = H[t, :, s] = part
    return H.reshape(b * p, b * p)


class Factor:
    """Cholesky's of a symmetric matrix; what rounding takes from small pivots is given back.

    The matrix is brought to a diagonal of ones before, which changes no digit of the result.
    """

    def __init__(self, H: np.ndarray, jitter: float = 0.0) -> None:
        self.scale = 1.0 / np.sqrt(H.diagonal())
        scaled = H * self.scale
        scaled *= self.scale[:, None]
        scaled.reshape(-1)[:: len(scaled) + 1] += jitter
        while True:
            self.lower, failed = dpotrf(scaled, lower=1)
            if not failed:
                return
            more = max(9.0 * jitter, 1e-15)
            jitter += more
            scaled.reshape(-1)[:: len(scaled) + 1] += more

    def solve(self, right: np.ndarray) -> np.ndarray:
        """H^-1 right, of the same shape, whose rows make up one or several right sides."""
        sides = right.reshape(-1, len(self.scale)) * self.scale
        x, _ = dpotrs(self.lower, sides.T, lower=1)
        return np.asarray((x.T * self.scale).reshape(right.shape))

    def leverages(self, rows: np.ndarray) -> np.ndarray:
        """v'H^-1 v of every row v."""
        inverse, _ = dtrtri(self.lower, lower=1)
        half = (rows * self.scale) @ np.tril(inverse).T
        return np.asarray(np.einsum("ij,ij->i", half, half))
