"""The simplex: x >= 0 and s = r."""

from typing import Any

from numpy.typing import ArrayLike, NDArray

from fast._numba import kernel
from fast._rows import load
from fast.kernels.projections import uncapped_row
from fast.sets._batch import project_rows
from fast.sets._docs import documented


@kernel
def project_row(a, k, r, rho, x, work):
    """Write x = argmin ||x - a||^2 over {x >= 0, s = r}; returns s = <1,x>.

    ``a``, ``x`` and ``work`` are writeable float64 arrays with d entries. ``k`` and ``rho``
    have no influence (s is constant); they stand here so that all sets are called alike.
    """
    return uncapped_row(a, r, 0.0, True, x, work)


@kernel
def project_all(a, k, r, rho, x, row, work):
    """Write the projections of the rows of a; returns how many, less if one is not finite."""
    for i in range(a.shape[0]):
        if not load(a[i], row):
            return i
        project_row(row, k, r[i], rho[i], x[i], work)
    return a.shape[0]


@documented
def project(a: ArrayLike, r: ArrayLike = 1.0, rho: ArrayLike = 0.0) -> NDArray[Any]:
    """Projection onto the simplex.

    argmin over x of ||x - a||^2 + rho <1,x>^2 subject to x >= 0, <1,x> = r. As <1,x> is constant,
    rho only shifts the objective.

    x = (a - t)_+ with the threshold t that makes the sum r, by Newton from the largest entry down.
    """
    return project_rows(project_all, a, 1, r, rho)


def _warmup() -> None:
    project([1.0, 0.0])
