"""The box: 0 <= x_i <= r."""

from typing import Any

from numpy.typing import ArrayLike, NDArray

from fast._numba import kernel
from fast._rows import load
from fast.kernels.projections import write_clipped
from fast.sets._batch import project_rows
from fast.sets._docs import documented


@kernel
def project_row(a, r, x):
    """Write x = argmin ||x - a||^2 over {0 <= x_i <= r}; returns <1,x>."""
    return write_clipped(a, 0.0, 0.0, r, x)


@kernel
def project_all(a, k, r, rho, x, row, work):
    """Write the projections of the rows of a; returns how many, less if one is not finite."""
    for i in range(a.shape[0]):
        if not load(a[i], row):
            return i
        project_row(row, r[i], x[i])
    return a.shape[0]


@documented
def project(a: ArrayLike, r: ArrayLike = 1.0) -> NDArray[Any]:
    """Projection onto the box.

    argmin over x of ||x - a||^2 subject to 0 <= x_i <= r: each entry clipped to [0, r].

    The dual set of the one-vs-all losses, one entry per class.
    """
    return project_rows(project_all, a, r=r)


def _warmup() -> None:
    project([1.0, 0.0])
