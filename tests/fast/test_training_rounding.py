"""The trainers' kernels may reorder their sums; the projections they call may not."""

import numpy as np

from fast._numba import REORDER, njit


@njit
def shifted(a, pivot, q, out):
    for i in range(a.shape[0]):
        out[i] = (a[i] - pivot) + q


@njit(fastmath=REORDER)
def reordering_caller(a, pivot, q, out):
    shifted(a, pivot, q, out)


def test_a_callee_does_not_inherit_the_callers_rounding():
    """numba compiles a callee with the caller's fastmath, unless the callee has its own."""
    a, out = np.full(8, 1e16), np.zeros(8)
    reordering_caller(a, 1e16, 0.25, out)  # compiles both, the callee inside the caller
    np.testing.assert_array_equal(out, 0.25)
    shifted(a, 1e16, 0.25, out)
    np.testing.assert_array_equal(out, 0.25)
