"""Rows of a batch as the kernels want them: float64, contiguous, read-only, in bounded chunks."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._numba import kernel
from fast._threads import all_true, at_most
from fast._validation import LIMIT, raise_bad_entry, real_array

CHUNK = 1 << 16  # float64 numbers that a conversion may hold at a time (512 kB)
TASK = 1 << 18  # numbers per thread below which none is started: a millisecond of projections


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


def slices(start: int, stop: int, step: int) -> Iterator[slice]:
    """One after the other, of at least one row."""
    for i in range(start, stop, max(step, 1)):
        yield slice(i, min(i + max(step, 1), stop))


def all_done(a: NDArray[Any], work: Callable[[slice], bool]) -> bool:
    """Whether ``work`` on slices of the rows was done, in as many threads as `fast.threads` says.

    A thread takes contiguous float64 as it is, and else as many rows at a time as CHUNK allows.
    """
    n, m = a.shape[0], max(a.shape[1], 1)
    n_jobs = at_most(a.size // TASK)
    step = n if a.dtype == np.float64 and a.flags.c_contiguous else CHUNK // m
    if n_jobs == 1:
        return all(map(work, slices(0, n, step)))
    tasks = slices(0, n, -(-n // (4 * n_jobs)))  # a few for each: they do not take equal times
    return all_true(lambda t: all(map(work, slices(t.start, t.stop, step))), tasks, n_jobs)


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

        It returns the number of rows done: less than there are if it meets a bad entry. It is called
        from several threads.
        """
        out = np.empty((self.n, 1 if scalars else self.m))

        def work(part: slice) -> bool:
            given = read_only(self.rows[part])
            return drive(given, part, out[part]) == len(given)

        if not all_done(self.rows, work):
            raise_bad_entry(self.name, self.given)
        with np.errstate(over="ignore"):  # a value beyond float32 becomes inf
            typed = out.astype(self.given.dtype, copy=False)
        typed = typed[:, 0] if scalars else typed
        return typed[0] if self.single else typed
