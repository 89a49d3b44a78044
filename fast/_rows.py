"""Rows of a batch as the kernels want them: float64, contiguous, read-only, in bounded chunks."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._numba import kernel
from fast._validation import LIMIT, raise_bad_entry, real_array

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


class Rows:
    """A vector or a matrix of rows of a loss's argument, and the way through them.

    Parameters
    ----------
    name : str
        Name of the argument, for messages.
    value : array_like
        What was given.
    """

    def __init__(self, name: str, value: ArrayLike) -> None:
        given = real_array(name, value)
        self.name, self.given = name, given
        self.single = given.ndim == 1
        self.rows = given[np.newaxis] if self.single else given
        self.n, self.m = self.rows.shape

    def through(
        self, drive: Callable[[NDArray[Any], slice, NDArray[Any]], int], *, scalars: bool
    ) -> Any:
        """Let ``drive(rows, part, out)`` fill a number or m numbers per row; typed as what was given.

        It returns the number of rows done: less than there are if it meets a bad entry.
        """
        out = np.empty((self.n, 1 if scalars else self.m))
        for part in chunks(self.rows):
            if drive(read_only(self.rows[part]), part, out[part]) < part.stop - part.start:
                raise_bad_entry(self.name, self.given)
        with np.errstate(over="ignore"):  # a value beyond float32 becomes inf
            typed = out.astype(self.given.dtype, copy=False)
        typed = typed[:, 0] if scalars else typed
        return typed[0] if self.single else typed
