"""The simplex: x >= 0 and s = r."""

from __future__ import annotations

from .._numba import kernel
from ._kernels import uncapped_row


@kernel
def project_row(a, k, r, rho, x, work):
    """x = argmin ||x - a||^2 over {x >= 0, s = r}; returns s = <1,x>.

    ``a``, ``x`` (may be the same array) and ``work`` are float64 with d entries. ``k`` and ``rho``
    have no influence (s is constant); they stand here so that all sets are called alike.
    """
    return uncapped_row(a, r, 0.0, True, x, work)
