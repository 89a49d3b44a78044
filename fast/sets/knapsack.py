"""The knapsack: <b,x> = capacity and low <= x <= high, weights of any sign."""

from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._numba import kernel
from fast._rows import load
from fast._validation import MAGNITUDE, per_entry, real_array
from fast.errors import InvalidParameterError
from fast.sets._batch import project_rows
from fast.sets._docs import documented_with

LARGEST = 1e150  # of a bound and of the capacity: their products with weights must not overflow
SLACK = 4.0 * np.finfo(np.float64).eps  # a capacity at an end of what is possible may be rounded
QUANTUM = float(np.finfo(np.float64).smallest_subnormal)  # what a product of tiny numbers may lose
SPLIT = 2.0**27 + 1.0  # takes a number apart into halves of its digits
_VECTOR = "float or array_like, shape (d,) or (n, d)"
BOUNDS = {
    "b": (_VECTOR, "Weights: 0, or of magnitude 1e-70 to 1e70."),
    "low": (_VECTOR, "Least values, possibly -inf."),
    "high": (_VECTOR, "Largest values, possibly inf."),
}


@kernel(forceinline=True)
def minus_product(left, lost, x, y):
    """Left - x y and, added to ``lost``, what its two roundings take away (Dekker's product, Knuth's sum)."""
    p = x * y
    x_top, y_top = SPLIT * x, SPLIT * y
    x_top, y_top = x_top - (x_top - x), y_top - (y_top - y)
    x_end, y_end = x - x_top, y - y_top
    off = ((x_top * y_top - p) + x_top * y_end + x_end * y_top) + x_end * y_end
    new = left - p
    back = new - left
    return new, lost + ((left - (new - back)) - (p + back)) - off


@kernel
def project_row(a, b, low, high, r, x, work):
    """Write x = argmin ||x - a||^2 over {<b,x> = r, low <= x <= high}; False if the set is empty.

    ``a``, ``x`` and ``work`` are writeable float64 arrays with d entries, the bounds may be infinite. The
    entries that are not fixed yet solve the problem without bounds. Where their clipping makes <b,x> too
    large, those that it has raised it for are at that bound in the solution too, as the multiplier can only
    grow: they are fixed there, or the others by the same argument (Kiwiel 2008). In units of the largest
    weight b of those left, the multiplier is a number in units of x.
    """
    free = 0
    for i in range(a.shape[0]):
        x[i] = min(max(a[i], low[i]), high[i])
        if b[i] != 0.0:
            work[free] = i
            free += 1
    left, lost = r, 0.0  # a small weight makes much of a rounding
    while free > 0:
        unit = 0.0
        for k in range(free):
            unit = max(unit, abs(b[int(work[k])]))
        total, square = -(left + lost) / unit, 0.0
        for k in range(free):
            i = int(work[k])
            c = b[i] / unit
            total += c * a[i]
            square += c * c
        t = total / square
        excess = 0.0
        for k in range(free):
            i = int(work[k])
            c = b[i] / unit
            wanted = a[i] - t * c
            x[i] = min(max(wanted, low[i]), high[i])
            excess += c * (x[i] - wanted)
        if excess == 0.0:
            return True
        kept = 0
        for k in range(free):
            i = int(work[k])
            c = b[i] / unit
            moved = c * (x[i] - (a[i] - t * c))
            if (moved > 0.0) == (excess > 0.0) and moved != 0.0:
                left, lost = minus_product(left, lost, b[i], x[i])
            else:
                work[kept] = i
                kept += 1
        free = kept
    if left + lost == 0.0:
        return True
    # every entry is at a bound: the capacity is an end of what is possible, up to rounding, or beyond it
    least, most, size = 0.0, 0.0, abs(r)
    for i in range(a.shape[0]):
        if b[i] != 0.0:
            low_end, high_end = b[i] * low[i], b[i] * high[i]
            least += min(low_end, high_end)
            most += max(low_end, high_end)
            size += abs(b[i] * x[i])
    allowed = a.shape[0] * (SLACK * size + QUANTUM)
    return least - r <= allowed and r - most <= allowed


@kernel
def project_all(a, k, r, rho, b, low, high, capacity, x, row, work):
    """Write the projections of the rows of a; returns how many, less if one is not finite, or empty."""
    for i in range(a.shape[0]):
        weights, least, most = b[i % b.shape[0]], low[i % low.shape[0]], high[i % high.shape[0]]
        c = capacity[i % capacity.shape[0]]
        if not (load(a[i], row) and project_row(row, weights, least, most, c, x[i], work)):
            return i
    return a.shape[0]


@documented_with(**BOUNDS, capacity=("float or array_like, shape (n,)", "Value of <b,x>."))
def project(
    a: ArrayLike, b: ArrayLike, low: ArrayLike, high: ArrayLike, capacity: ArrayLike
) -> NDArray[Any]:
    """Projection onto the knapsack.

    argmin over x of ||x - a||^2 subject to low <= x <= high, <b,x> = capacity.

    x = clip(a - t b, low, high) with the multiplier t that makes <b,x> the capacity. Variable fixing, Kiwiel
    2008, "Variable fixing algorithms for the continuous quadratic knapsack problem"; no sorting.
    """
    return project_between(project_all, a, b, low, high, capacity)


def project_between(
    kernel: Callable[..., int],
    a: ArrayLike,
    b: ArrayLike,
    low: ArrayLike,
    high: ArrayLike,
    capacity: ArrayLike,
    at_most: bool = False,
) -> NDArray[Any]:
    """Check the arguments and project with the kernel; a capacity of ``at_most`` may be as large as it likes."""
    given = real_array("a", a)
    weights = per_entry("b", b, given.shape, MAGNITUDE)
    least = per_entry("low", low, given.shape, LARGEST, -np.inf)
    most = per_entry("high", high, given.shape, LARGEST, np.inf)
    c = per_entry("capacity", capacity, given.shape[:-1] or (1,), LARGEST)[0]
    tiny = (np.abs(weights) < 1 / MAGNITUDE) & (weights != 0)
    if tiny.any():
        expected = f"weights that are 0 or of magnitude {1 / MAGNITUDE:g} to {MAGNITUDE:g}"
        fix = "divide b and capacity by the largest weight"
        raise InvalidParameterError("b", f"{weights[tiny][0]:g}", expected, fix)
    if (least > most).any():
        gap = f"below low by {np.max(least - most):g}"
        raise InvalidParameterError("high", gap, "low <= high", "swap them where they cross")

    def refuse() -> None:
        with np.errstate(invalid="ignore"):  # 0 inf
            ends = np.where(weights == 0, 0, [weights * least, weights * most])
        bottom, top = ends.min(axis=0).sum(axis=-1), ends.max(axis=0).sum(axis=-1)
        top = np.full_like(top, np.inf) if at_most else top
        i = int(np.argmax(np.maximum(bottom - c, c - top)))
        between = f"between {bottom[i % bottom.size]:g} and {top[i % top.size]:g}"
        expected, fix = f"{between}: otherwise the set is empty", "change it, or relax low and high"
        raise InvalidParameterError("capacity", f"{c[i]:g} (row {i})", expected, fix)

    return project_rows(kernel, given, entries=(weights, least, most, c), refuse=refuse)


def _warmup() -> None:
    project([1.0, 0.0], 1.0, 0.0, 1.0, 1.0)
