"""The bipartite simplex: x >= 0 with the same sum, at most r, over the entries N and over P."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._numba import kernel
from fast._rows import load
from fast._simd import choose, larger, plus
from fast.kernels.projections import active, largest_below, write_zero
from fast.sets._batch import project_rows
from fast.sets._docs import documented


@kernel
def _depth(values, top, r):
    """Return p with sum (values - top + p)_+ = r > 0: the active set shrinks until it fits."""
    p = r
    while True:
        count, total = active(values, top, p)
        new = (r - total) / count
        if not new < p:
            return p
        p = new


@kernel
def gather(a, y, work):
    """Copy the entries of N, then those of P, to ``work``; returns how many belong to N."""
    split = 0
    for i in range(a.shape[0]):
        work[split] = a[i]
        split += not y[i]
    end = split
    for i in range(a.shape[0]):
        if end < a.shape[0]:
            work[end] = a[i]
        end += y[i]
    return split


@kernel
def project_row(a, y, r, x, work):
    """Write x = argmin ||x - a||^2 over {x >= 0, <1,x_N> = <1,x_P> <= r}; returns <1,x_N>.

    ``a``, ``x`` and ``work`` are writeable float64 arrays with d entries, y booleans (True: P).
    With A, B the largest entries on both sides, x_N = (a_N - A + p)_+ and x_P = (a_P - B + q)_+.
    If r is not reached, p + q = A + B and both sums agree. They are convex in p and in q, so that
    for guessed active sets the common value of their tangents is below that of the sums, and
    guessing again from (p, q) makes it grow until the sets are right, without any bracket.
    """
    d = a.shape[0]
    split = gather(a, y, work)
    if split == 0 or split == d or not r > 0.0:
        return write_zero(x)
    low, high = work[:split], work[split:]
    top_low, top_high = largest_below(low, np.inf), largest_below(high, np.inf)
    height = top_low + top_high
    if not height > 0.0:
        return write_zero(x)
    p = q = 0.5 * height
    s = 0.0
    while True:
        n, b = active(low, top_low, p)
        m, g = active(high, top_high, q)
        new = (n * (m * height + g) + m * b) / (n + m)
        if not new > s:  # the same sets again, up to rounding
            break
        s = new
        if s >= r:  # each side by itself reaches r
            p, q = _depth(low, top_low, r), _depth(high, top_high, r)
            break
        p = (m * height + g - b) / (n + m)
        q = (n * height + b - g) / (n + m)
    s = 0.0
    for i in range(d):
        v = larger((a[i] - choose(y[i], top_high, top_low)) + choose(y[i], q, p), 0.0)
        x[i] = v
        s = plus(s, choose(y[i], 0.0, v))
    return s


@kernel
def project_all(a, y, r, x, row, work):
    """Write the projections of the rows of a; returns how many, less if one is not finite."""
    for i in range(a.shape[0]):
        if not load(a[i], row):
            return i
        project_row(row, y[i], r[i], x[i], work)
    return a.shape[0]


@documented
def project(a: ArrayLike, y: ArrayLike, r: ArrayLike = 1.0) -> NDArray[Any]:
    """Projection onto the bipartite simplex.

    argmin over x of ||x - a||^2 subject to x >= 0, <1,x_N> = <1,x_P> <= r.

    x_N = (a_N - t)_+ and x_P = (a_P + t)_+ with the t at which both sums agree, if they do so below
    r; else each side is projected on its simplex of sum r. It is 0 iff the largest entries of both
    sides sum to 0 or less. The dual set of the multilabel hinges; Lapin, Hein and Schiele 2018,
    "Analysis and Optimization of Loss Functions for Multiclass, Top-k, and Multilabel
    Classification".
    """
    return project_rows(project_all, a, r=r, y=y, two_sides=True)


def _warmup() -> None:
    project([1.0, 0.0], [0, 1])
