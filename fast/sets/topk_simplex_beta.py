"""The top-k simplex of the second kind: 0 <= x_i <= r/k and s <= r."""

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast._numba import kernel
from fast._rows import load
from fast._simd import choose, larger, plus, smaller
from fast.kernels.projections import (
    WHOLE,
    around,
    kth_largest,
    largest_below,
    ranks,
    uncapped_row,
    write_clipped,
    write_zero,
)
from fast.sets._batch import project_rows
from fast.sets._docs import documented


@kernel(forceinline=True)
def _clipped_sum(values, origin, cap):
    """Sum of clip(values - origin, 0, cap)."""
    s = 0.0
    for i in range(values.shape[0]):
        s = plus(s, larger(smaller(values[i] - origin, cap), 0.0))
    return s


@kernel
def _write_high(a, cap, rho, near, x):
    """The case s < r and t >= a_[k], so that fewer than k entries are positive; returns s.

    Solve rho*s(t) = t without caps, fix the entries above the cap (t then only falls, so they
    stay there), and solve again for the others.
    """
    fixed = 0
    high = np.inf
    while True:
        first = largest_below(near, high)
        level = first - rho * (fixed * cap)
        p = 0.0
        if not level > 0.0:  # the threshold lies between the fixed entries and the others
            break
        p = level / (1.0 + rho)
        while True:
            count = 0
            total = 0.0
            for i in range(near.shape[0]):
                v = near[i] - first
                take = (near[i] < high) & (v > -p)
                count += take
                total = plus(total, choose(take, v, 0.0))
            new = (level - rho * total) / (1.0 + rho * count)
            if not new < p:
                break
            p = new
        if p <= cap:
            break
        high = min(first, first + (cap - p))
        fixed = 0
        for i in range(near.shape[0]):
            fixed += near[i] >= high
    s = 0.0
    for i in range(a.shape[0]):
        v = choose(a[i] >= high, cap, larger((a[i] - first) + p, 0.0))
        x[i] = v
        s = plus(s, v)
    return s


@kernel
def project_row(a, k, r, rho, x, work):
    """Write x = argmin ||x - a||^2 + rho <1,x>^2 over {0 <= x_i <= r/k, s <= r}; returns s = <1,x>.

    ``a``, ``x`` and ``work`` are writeable float64 arrays with d entries. The solution is
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
    pivot, taken = kth_largest(a, j, cap, work)
    near = a if taken == WHOLE else work[:taken]
    if rho * _clipped_sum(near, pivot, cap) >= pivot:
        return _write_high(a, cap, rho, near, x)
    higher, _, tied, gap = ranks(near, pivot)
    tied_top = j - higher  # entries equal to the pivot that belong to the top k
    tied_rest = tied - tied_top
    gap = 0.0 if tied_rest > 0 else gap
    n, b = tied_top, 0.0
    m, g = (max(1, tied_rest), gap) if gap < cap else (0, 0.0)
    q = 0.0
    seen_n, seen_m, step, mark = -1, -1, 0, 1
    while True:
        equal = (n * cap - b + g) / (n + m) if m > 0 else cap
        q = min(equal, (pivot - rho * (b + (j - n) * cap - g)) / (1.0 + rho * (n + m)))
        if not cap > q:
            break
        n_new, b, _, m_new, g = around(near, pivot, cap - q, q)
        n_new += tied_top
        m_new += tied_rest
        if (n_new == n and m_new == m) or (n_new == seen_n and m_new == seen_m):
            break
        n, m = n_new, m_new
        step += 1
        if step == mark:  # rounding can make guesses repeat in a cycle: its members are as good
            seen_n, seen_m, mark = n, m, 2 * mark
    return write_clipped(a, pivot, q, cap, x)


@kernel
def project_all(a, k, r, rho, x, row, work):
    """Write the projections of the rows of a; returns how many, less if one is not finite."""
    for i in range(a.shape[0]):
        if not load(a[i], row):
            return i
        project_row(row, k, r[i], rho[i], x[i], work)
    return a.shape[0]


@documented
def project(a: ArrayLike, k: int, r: ArrayLike = 1.0, rho: ArrayLike = 0.0) -> NDArray[Any]:
    """Projection onto the top-k simplex of the second kind, biased for rho > 0.

    argmin over x of ||x - a||^2 + rho <1,x>^2 subject to 0 <= x_i <= r/k, <1,x> <= r.

    Lapin, Hein and Schiele 2015, "Top-k Multiclass SVM", section 3.1 and supplement. Expected time
    O(d) per row for small k.
    """
    return project_rows(project_all, a, k, r, rho)


def _warmup() -> None:
    project([1.0, 0.0], 1)
