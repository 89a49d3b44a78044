"""The simplex: x >= 0 and s = r."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike, NDArray

from fast._numba import kernel
from fast._rows import load
from fast.sets._batch import project_rows
from fast.sets._kernels import uncapped_row


@kernel
def project_row(a, k, r, rho, x, work):
    """Write x = argmin ||x - a||^2 over {x >= 0, s = r}; returns s = <1,x>.

    ``a``, ``x`` and ``work`` are writeable float64 arrays with d entries. ``k`` and ``rho``
    have no influence (s is constant); they stand here so that all sets are called alike.
    """
    return uncapped_row(a, r, 0.0, True, x, work)


@kernel
def project_all(x, k, r, rho, row, work):
    """Replace the rows of x by their projections, up to the first that is not finite."""
    for i in range(x.shape[0]):
        if not load(x[i], row):
            return i
        project_row(row, k, r[i], rho[i], x[i], work)
    return x.shape[0]


def project(a: ArrayLike, r: ArrayLike = 1.0, rho: ArrayLike = 0.0) -> NDArray[Any]:
    """Projection onto the simplex.

    argmin over x of ||x - a||^2 + rho <1,x>^2 subject to x >= 0, <1,x> = r. As <1,x> is constant,
    rho only shifts the objective.

    Parameters
    ----------
    a : array_like, shape (d,) or (n, d)
        A vector, or one per row; float64, float32 or integers (computed as float64). Never
        changed.
    r : float or array_like, shape (n,), default 1.0
        Sum >= 0 of the result.
    rho : float or array_like, shape (n,), default 0.0
        Weight >= 0 of the squared sum; no factor 1/2 on either term.

    Returns
    -------
    ndarray
        The projection, with the shape and dtype of ``a`` (float64 for integers).

    Raises
    ------
    fast.errors.InvalidParameterError
        A nan, infinite or huge (> 1e300) entry, a parameter out of range, shapes that do not
        match; its subclass InvalidTypeError for anything but real numbers.

    Notes
    -----
    x = (a - t)_+ with the threshold t that makes the sum r; Newton from the largest entry down.
    """
    return project_rows(project_all, a, 1, r, rho)


def _warmup() -> None:
    project([1.0, 0.0])
