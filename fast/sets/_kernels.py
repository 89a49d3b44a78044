"""Kernels that the top-k sets share. They do not validate and do not allocate.

All coordinates are differences to an entry of ``a`` near the solution's threshold (the largest,
or the k-th largest): the result then has errors of a few ulp of the *result*, also when the
entries of ``a`` are large and almost tied.
"""

from __future__ import annotations

import numpy as np

from fast._numba import REORDER, kernel

INSERTION_LIMIT = 24  # longer top lists are found by quickselect instead of insertion
STEPS = 2000  # bound on guesses of the active set; a handful are needed


@kernel(forceinline=True, fastmath=REORDER | {"nnan"})
def largest(a):
    """Largest entry of ``a`` (finite numbers)."""
    top = a[0]
    for i in range(1, a.shape[0]):
        top = a[i] if a[i] > top else top
    return top


@kernel(forceinline=True, fastmath=REORDER)
def write_clipped(a, pivot, q, cap, x):
    """Write x = clip((a - pivot) + q, 0, cap); returns the sum of x."""
    s = 0.0
    for i in range(a.shape[0]):
        v = (a[i] - pivot) + q
        v = v if v < cap else cap
        v = v if v > 0.0 else 0.0
        x[i] = v
        s += v
    return s


@kernel(forceinline=True)
def write_zero(x):
    """Write x = 0; returns its sum."""
    for i in range(x.shape[0]):
        x[i] = 0.0
    return 0.0


@kernel
def uncapped_row(a, r, rho, equality, x, work):
    """Projection on {x >= 0, s = r} (``equality``) or {x >= 0, s <= r}; returns s.

    With D = a - max(a) <= 0 the solution is x = (D + p)_+. On the active set (c entries with sum
    total) p is the smaller of (r - total)/c, where s = r, and (max(a) - rho*total)/(1 + rho*c),
    where the threshold is t = rho*s. Newton's method from above shrinks the active set
    monotonically, so it ends after finitely many passes.
    """
    d = a.shape[0]
    top = largest(a)
    level = np.inf if equality else top
    if r <= 0.0 or level <= 0.0:
        return write_zero(x)
    p = min(r, level / (1.0 + rho))
    count = 0
    total = 0.0
    for i in range(d):
        v = a[i] - top
        work[count] = v
        if v > -p:
            count += 1
            total += v
    while count > 0:
        p = min((r - total) / count, (level - rho * total) / (1.0 + rho * count))
        kept = 0
        total = 0.0
        for i in range(count):
            v = work[i]
            work[kept] = v
            if v > -p:
                kept += 1
                total += v
        if kept == count:
            break
        count = kept
    return write_clipped(a, top, p, np.inf, x)


@kernel
def _insert_top(a, k, span, work):
    """``split_top`` by insertion into a sorted list: best for small k."""
    for i in range(k):
        v = a[i]
        j = i
        while j > 0 and work[j - 1] > v:
            work[j] = work[j - 1]
            j -= 1
        work[j] = v
    count = 0
    floor = work[0] - span
    for i in range(k, a.shape[0]):
        v = a[i]
        if v > floor:
            if v > work[0]:
                out = work[0]
                j = 1
                while j < k and work[j] < v:
                    work[j - 1] = work[j]
                    j += 1
                work[j - 1] = v
                v = out
                floor = work[0] - span
            work[k + count] = v
            count += 1
    return count


@kernel
def _quickselect_top(a, k, span, work):
    """``split_top`` by quickselect with pseudo-random pivots: O(d) expected for every k."""
    d = a.shape[0]
    for i in range(d):
        work[i] = a[i]
    lo, hi, seed = 0, d - 1, 12345
    while lo < hi:
        seed = (seed * 1103515245 + 12345) & 0x7FFFFFFF
        pivot = work[lo + seed % (hi - lo + 1)]
        i, j = lo, hi
        while i <= j:
            while work[i] > pivot:
                i += 1
            while work[j] < pivot:
                j -= 1
            if i <= j:
                work[i], work[j] = work[j], work[i]
                i += 1
                j -= 1
        if k - 1 <= j:
            hi = j
        elif k - 1 >= i:
            lo = i
        else:
            break
    work[0], work[k - 1] = work[k - 1], work[0]
    count = 0
    floor = work[0] - span
    for i in range(k, d):
        v = work[i]
        work[k + count] = v
        if v > floor:
            count += 1
    return count


@kernel
def split_top(a, k, span, work):
    """Put the k largest entries of ``a`` into work[:k], the smallest of them at work[0].

    The others that exceed work[0] - span (and perhaps a few that do not) follow in work[k:];
    returns their number. ``work`` has room for len(a) entries.
    """
    if k <= INSERTION_LIMIT:
        return _insert_top(a, k, span, work)
    return _quickselect_top(a, k, span, work)


@kernel(forceinline=True, fastmath=REORDER)
def below(values, threshold):
    """Number and sum of the entries < threshold, and the sum of the others."""
    count = 0
    inside = 0.0
    outside = 0.0
    for i in range(values.shape[0]):
        v = values[i]
        take = v < threshold
        count += 1 if take else 0
        inside += v if take else 0.0
        outside += 0.0 if take else v
    return count, inside, outside


@kernel(forceinline=True, fastmath=REORDER)
def distances(top, rest):
    """Turn both lists into distances to the pivot top[0]; returns (pivot, nearest of rest)."""
    pivot = top[0]
    gap = np.inf
    for i in range(top.shape[0]):
        top[i] -= pivot
    for i in range(rest.shape[0]):
        v = pivot - rest[i]
        rest[i] = v
        gap = v if v < gap else gap
    return pivot, gap
