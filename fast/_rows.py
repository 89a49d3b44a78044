"""Rows of a batch as the kernels want them: float64, contiguous, read-only, in bounded chunks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fast._numba import kernel
from fast._validation import LIMIT

CHUNK = 1 << 16  # float64 numbers that a conversion may hold at a time (512 kB)


@kernel(forceinline=True)
def load(given, row):
    """Copy ``given`` to ``row``; False if an entry is not finite or beyond LIMIT."""
    good = 0
    for i in range(given.shape[0]):
        v = given[i]
        row[i] = v
        good += abs(v) <= LIMIT
    return good == given.shape[0]


def read_only(a: NDArray[Any]) -> NDArray[np.float64]:
    """A contiguous float64 view (or copy) typed read-only, so that kernels compile once."""
    view = np.ascontiguousarray(a, dtype=np.float64).view()
    view.flags.writeable = False
    return view


def chunks(a: NDArray[Any]) -> Iterator[slice]:
    """Slices of rows: all at once for contiguous float64, else as many as CHUNK allows."""
    n = a.shape[0]
    whole = a.dtype == np.float64 and a.flags.c_contiguous
    step = max(n, 1) if whole else max(CHUNK // max(a.shape[1], 1), 1)
    for start in range(0, n, step):
        yield slice(start, min(start + step, n))
