"""Cholesky factors of matrices that rounding may have made indefinite."""

import numpy as np
from scipy.linalg.lapack import dpotrf  # its wrapper costs more than small systems


def cholesky(M: np.ndarray) -> np.ndarray:
    """Lower factor of the lower triangle of M, with the smallest ridge that works; M may be changed.

    The ridge is 1e-16, 1e-14, ... of the mean of the diagonal. What is above the factor's diagonal is
    undefined. Arrays in Fortran order are not copied.

    Raises
    ------
    numpy.linalg.LinAlgError
        The diagonal overflows.
    """
    ridge, mean = 0.0, float(M.trace()) / len(M)
    while True:
        L, failed = dpotrf(M, lower=1, clean=0)
        if not failed:
            return np.asarray(L)
        more = max(100.0 * ridge, 1e-16)
        if not np.isfinite(more * mean):
            raise np.linalg.LinAlgError("the diagonal overflows")
        M[np.diag_indices_from(M)] += (more - ridge) * mean
        ridge = more
