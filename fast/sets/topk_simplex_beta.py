"""The top-k simplex of the second kind: 0 <= x_i <= r/k and s <= r."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._numba import REORDER, kernel
from fast._rows import bounded
from fast.sets._batch import project_rows
from fast.sets._kernels import (
    STEPS,
    below,
    distances,
    split_top,
    uncapped_row,
    write_clipped,
    write_zero,
)


@kernel(forceinline=True, fastmath=REORDER)
def _clipped_sum(values, origin, cap):
    """Sum of clip(values - origin, 0, cap)."""
    s = 0.0
    for i in range(values.shape[0]):
        v = values[i] - origin
        v = v if v < cap else cap
        s += v if v > 0.0 else 0.0
    return s


@kernel(fastmath=REORDER)
def _write_high(a, cap, rho, top, x):
    """The case that only entries of ``top`` are positive and s < r; returns s.

    Solve rho*s(t) = t without caps, fix the entries above the cap (t then only falls, so they
    stay there), and solve again for the others.
    """
    fixed = 0
    high = np.inf
    while True:
        first = -np.inf
        for i in range(top.shape[0]):
            v = top[i]
            first = v if first < v < high else first
        level = first - rho * (fixed * cap)
        if not level > 0.0:  # the threshold lies between the fixed entries and the others
            p = 0.0
            break
        p = level / (1.0 + rho)
        while True:
            count = 0
            total = 0.0
            for i in range(top.shape[0]):
                v = top[i] - first
                if top[i] < high and v > -p:
                    count += 1
                    total += v
            new = (level - rho * total) / (1.0 + rho * count)
            if not new < p:
                break
            p = new
        if p <= cap:
            break
        high = min(first, first + (cap - p))
        fixed = 0
        for i in range(top.shape[0]):
            fixed += 1 if top[i] >= high else 0
    s = 0.0
    for i in range(a.shape[0]):
        v = (a[i] - first) + p
        v = cap if a[i] >= high else (v if v > 0.0 else 0.0)
        x[i] = v
        s += v
    return s


@kernel(fastmath=REORDER)
def project_row(a, k, r, rho, x, work):
    """Write x = argmin ||x - a||^2 + rho <1,x>^2 over {0 <= x_i <= r/k, s <= r}; returns s = <1,x>.

    ``a``, ``x`` (may be the same array) and ``work`` are float64 with d entries. The solution is
    x = clip(a - t, 0, r/k) for the smallest t >= 0 with s <= r and rho*s <= t. Distances to the
    k-th largest entry and guesses of the active sets as in the alpha projection; q = a_[k] - t is
    the smaller of the values at which s = r and rho*s = t.
    """
    d = a.shape[0]
    if k == 1:
        return uncapped_row(a, r, rho, False, x, work)
    if not r > 0.0:
        return write_zero(x)
    cap = r / k
    if rho == 0.0 and _clipped_sum(a, 0.0, cap) <= r:
        return write_clipped(a, 0.0, 0.0, cap, x)
    j = min(k, d)
    number = split_top(a, j, cap, work)
    top, rest = work[:j], work[j : j + number]
    if rho * _clipped_sum(top, top[0], cap) >= top[0]:
        return _write_high(a, cap, rho, top, x)
    pivot, gap = distances(top, rest)
    n, b, _ = below(top, np.nextafter(0.0, 1.0))
    m, g, _ = below(rest, np.nextafter(gap, np.inf)) if gap < cap else (0, 0.0, 0.0)
    q = 0.0
    for _ in range(STEPS):
        equal = (n * cap - b + g) / (n + m) if m > 0 else cap
        q = min(equal, (pivot - rho * (b + (j - n) * cap - g)) / (1.0 + rho * (n + m)))
        if not cap > q:
            break
        n_new, b, _ = below(top, cap - q)
        m_new, g, _ = below(rest, q)
        if n_new == n and m_new == m:
            break
        n, m = n_new, m_new
    return write_clipped(a, pivot, q, cap, x)


@kernel
def _project_rows(x, k, r, rho, work):
    for i in range(x.shape[0]):
        if not bounded(x[i]):
            return i
        project_row(x[i], k, r[i], rho[i], x[i], work)
    return x.shape[0]


def project(a: ArrayLike, k: int, r: ArrayLike = 1.0, rho: ArrayLike = 0.0) -> NDArray[Any]:
    """Projection onto the top-k simplex of the second kind, biased for rho > 0.

    argmin over x of ||x - a||^2 + rho <1,x>^2 subject to 0 <= x_i <= r/k, <1,x> <= r.

    Parameters
    ----------
    a : array_like, shape (d,) or (n, d)
        A vector, or one per row; float64, float32 or integers (computed as float64). Never
        changed.
    k : int
        At least 1. For k > d only the bounds r/k are active.
    r : float or array_like, shape (n,), default 1.0
        Radius >= 0.
    rho : float or array_like, shape (n,), default 0.0
        Weight >= 0 of the squared sum; no factor 1/2 on either term.

    Returns
    -------
    ndarray
        The projection, with the shape and dtype of ``a`` (float64 for integers).

    Raises
    ------
    fast.errors.InvalidParameterError
        A nan, infinite or huge (> 1e300) entry, a parameter out of range, shapes that do not
        match; its subclass InvalidTypeError for anything but real numbers.

    Notes
    -----
    Lapin, Hein and Schiele 2015, "Top-k Multiclass SVM", section 3.1 and supplement.
    """
    return project_rows(_project_rows, a, k, r, rho)


def _warmup() -> None:
    project([1.0, 0.0], 1)
