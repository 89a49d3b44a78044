"""The capped simplex: 0 <= x_i <= cap and s = r."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._numba import kernel
from fast._rows import load
from fast.errors import InvalidParameterError
from fast.kernels.projections import WHOLE, around, kth_largest, ranks, write_clipped, write_zero
from fast.sets._batch import project_rows
from fast.sets._docs import documented_with

ROUNDS = 200  # of Newton's method; its sets repeat after a few
SLACK = 1.0 + 4.0 * np.finfo(np.float64).eps  # a cap of r/d may have been rounded down


@kernel
def project_row(a, r, cap, x, work):
    """Write x = argmin ||x - a||^2 over {0 <= x_i <= cap, s = r}; returns s = <1,x>.

    ``a``, ``x`` and ``work`` are writeable float64 arrays with d entries; r <= d cap. The mass r fills
    j = ceil(r/cap) entries: x = clip((a - a_[j]) + q, 0, cap) with q in [0, cap], found by Newton's
    method on the sum, which is piecewise linear in q, within a bracket.
    """
    if not r > 0.0:
        return write_zero(x)
    cap = min(cap, r)
    d = a.shape[0]
    j = d
    if r < d * cap:
        j = min(max(int(np.ceil(r / cap)), 1), d)
    pivot, taken = kth_largest(a, j, cap, work)
    near = a if taken == WHOLE else work[:taken]
    higher, _, tied, _ = ranks(near, pivot)
    low, high = 0.0, cap
    q = min((r - higher * cap) / tied, cap)
    seen_n, seen_m = -1, -1
    for _ in range(ROUNDS):
        n, b, _, m, g = around(near, pivot, cap - q, q)
        # n entries above the pivot and m below it lie between the bounds, the others above are capped
        new = ((r - (higher - n) * cap) - b + g) / (n + m + tied)
        if new == q or (n == seen_n and m == seen_m):  # the root of these very sets
            q = new
            break
        if new > q:
            low = q
        else:
            high = q
        if low < new < high:
            q, seen_n, seen_m = new, n, m
        else:
            q, seen_n, seen_m = low + 0.5 * (high - low), -1, -1
            if q in (low, high):
                break
    return write_clipped(a, pivot, min(max(q, 0.0), cap), cap, x)


@kernel
def project_all(a, k, r, rho, cap, x, row, work):
    """Write the projections of the rows of a; returns how many, less if one is not finite."""
    for i in range(a.shape[0]):
        if not load(a[i], row):
            return i
        project_row(row, r[i], cap[i], x[i], work)
    return a.shape[0]


@documented_with(
    cap=("float or array_like, shape (n,), default 1.0", "Largest entry allowed, at least r/d.")
)
def project(a: ArrayLike, r: ArrayLike = 1.0, cap: ArrayLike = 1.0) -> NDArray[Any]:
    """Projection onto the capped simplex.

    argmin over x of ||x - a||^2 subject to 0 <= x_i <= cap, <1,x> = r.

    x = clip(a - t, 0, cap) with the threshold t that makes the sum r. With r = k and cap = 1 the set is the
    convex hull of the 0/1 vectors with k ones. Wang and Lu 2015, "Projection onto the Capped Simplex".
    """
    x = project_rows(project_all, a, r=r, own={"cap": cap})
    d, room = x.shape[-1], x.shape[-1] * np.asarray(cap, dtype=np.float64) * SLACK
    if np.any(np.asarray(r) > room):
        raise InvalidParameterError(
            "cap",
            f"{np.min(cap):g} with r = {np.max(r):g} and d = {d}",
            "a number >= r/d: with less the set is empty",
            "raise cap, or lower r",
        )
    return x


def _warmup() -> None:
    project([1.0, 0.0])
