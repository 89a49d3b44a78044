"""The top-k cone: x >= 0 and no entry above s/k."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._numba import kernel
from fast.sets import topk_simplex_alpha
from fast.sets._batch import project_rows
from fast.sets._docs import documented


@kernel
def project_row(a, k, r, rho, x, work):
    """Write x = argmin ||x - a||^2 + rho <1,x>^2 over {x >= 0, x_i <= s/k}; returns s = <1,x>.

    ``a``, ``x`` and ``work`` are writeable float64 arrays with d entries; ``r`` is ignored.
    """
    return topk_simplex_alpha.project_row(a, k, np.inf, rho, x, work)


@documented
def project(a: ArrayLike, k: int, rho: ArrayLike = 0.0) -> NDArray[Any]:
    """Projection onto the top-k cone, biased for rho > 0.

    argmin over x of ||x - a||^2 + rho <1,x>^2 subject to x >= 0, x_i <= <1,x>/k.

    For k = 1 this is the nonnegative orthant. Lapin, Hein and Schiele 2015, "Top-k Multiclass SVM",
    section 3.2; the kernel of the top-k simplex of the first kind, with an infinite radius.
    """
    return project_rows(topk_simplex_alpha.project_all, a, k, None, rho)


def _warmup() -> None:
    project([1.0, 0.0], 1)
