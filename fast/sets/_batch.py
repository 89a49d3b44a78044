"""From a public ``project`` to the kernel of its set: checks, dtypes, rows."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._rows import all_done, read_only
from fast._validation import check_indicator, check_k, per_row, raise_bad_entry, real_array


def project_rows(
    kernel: Callable[..., int],
    a: ArrayLike,
    k: Any = 1,
    r: ArrayLike | None = 1.0,
    rho: ArrayLike = 0.0,
    y: ArrayLike | None = None,
    *,
    two_sides: bool = False,
    own: Mapping[str, ArrayLike] | None = None,
    entries: Sequence[NDArray[np.float64]] = (),
    refuse: Callable[[], None] = lambda: None,
    places: int = 0,
) -> NDArray[Any]:
    """Project a vector or each row of a matrix with ``kernel(a, k, r, rho, x, row, work)``.

    ``r`` is None for a set without a radius. A set that depends on an indicator y of its entries
    (``two_sides``) has the kernel ``kernel(a, y, r, x, row, work)``; one with numbers of its ``own``, by
    name, finds them behind rho, and so does one with ``entries``, arrays from `per_entry`. The kernel writes
    float64 rows x and returns their number: less than there are if it meets an entry that is not finite, or
    a row for which the set is empty: ``refuse`` says so. Behind ``work`` come as many rows of integers as
    ``places`` says.
    """
    given = real_array("a", a)
    rows = given if given.ndim == 2 else given[np.newaxis]
    n, d = rows.shape
    k = check_k(k)
    r = np.full(n, np.inf) if r is None else per_row("r", r, n)
    rho = per_row("rho", rho, n)
    more = [per_row(name, value, n) for name, value in (own or {}).items()]
    more += [read_only(each) for each in entries]
    sides = check_indicator("y", y, given.shape) if two_sides else None
    out = np.empty((n, d), dtype=given.dtype)

    def work(part: slice) -> bool:
        x = np.empty(rows[part].shape) if out.dtype == np.float32 else out[part]
        given_set = (k, r[part], rho[part]) if sides is None else (sides[part], r[part])
        further = [each if len(each) == 1 else each[part] for each in more]
        space = (*np.empty((2, d)), *np.empty((places, d), dtype=np.int64))
        done = kernel(read_only(rows[part]), *given_set, *further, x, *space)
        if x.dtype != out.dtype:
            out[part] = x
        return done == len(x)

    if not all_done(rows, work):
        raise_bad_entry("a", given)
        refuse()
    return out if given.ndim == 2 else out[0]
