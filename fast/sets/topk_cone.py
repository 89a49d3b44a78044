"""The top-k cone: x >= 0 and no entry above s/k."""

from __future__ import annotations

import numpy as np

from .._numba import kernel
from . import topk_simplex_alpha


@kernel
def project_row(a, k, r, rho, x, work):
    """x = argmin ||x - a||^2 + rho <1,x>^2 over {x >= 0, x_i <= s/k}; returns s = <1,x>.

    ``a``, ``x`` (may be the same array) and ``work`` are float64 with d entries; ``r`` is ignored.
    """
    return topk_simplex_alpha.project_row(a, k, np.inf, rho, x, work)
