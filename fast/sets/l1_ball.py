"""The l1 ball: |x_1| + ... + |x_d| <= r."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._numba import kernel
from fast._rows import load
from fast._simd import plus
from fast.kernels.projections import uncapped_row
from fast.sets._batch import project_rows
from fast.sets._docs import documented


@kernel
def project_row(a, r, x, work):
    """Write x = argmin ||x - a||^2 over {sum |x_i| <= r}; returns that sum.

    ``a``, ``x`` and ``work`` are writeable float64 arrays with d entries. A point of the ball stays as it
    is, to the last digit.
    """
    s = 0.0
    for i in range(a.shape[0]):
        x[i] = abs(a[i])
        s = plus(s, x[i])
    if s > r:
        s = uncapped_row(x, r, 0.0, True, x, work)  # writes an entry when it has read it
    for i in range(a.shape[0]):
        x[i] = np.copysign(x[i], a[i])
    return s


@kernel
def project_all(a, k, r, rho, x, row, work):
    """Write the projections of the rows of a; returns how many, less if one is not finite."""
    for i in range(a.shape[0]):
        if not load(a[i], row):
            return i
        project_row(row, r[i], x[i], work)
    return a.shape[0]


@documented
def project(a: ArrayLike, r: ArrayLike = 1.0) -> NDArray[Any]:
    """Projection onto the l1 ball.

    argmin over x of ||x - a||^2 subject to |x_1| + ... + |x_d| <= r.

    x = sign(a) (|a| - t)_+ with t = 0 for a point of the ball, else with the threshold of the projection of
    |a| on the simplex. Duchi, Shalev-Shwartz, Singer and Chandra 2008, "Efficient Projections onto the
    l1-Ball for Learning in High Dimensions".
    """
    return project_rows(project_all, a, r=r)


def _warmup() -> None:
    project([1.0, 0.0])
