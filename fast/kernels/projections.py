"""Kernels that the top-k sets share. They do not validate and do not allocate.

All coordinates are differences to an entry of ``a`` near the solution's threshold (the largest,
or the k-th largest): the result then has errors of a few ulp of the *result*, also when the
entries of ``a`` are large and almost tied. Loops over entries have no branches, so that they run
as SIMD; a row is read a few times, which beats any sorting.
"""

import numpy as np

from fast._numba import kernel
from fast._simd import choose, larger, plus, smaller

LOWEST = -1.7e308  # stands for -inf, which would keep LLVM from using SIMD
SHORT = 128  # rows up to here are used whole; longer ones are filtered first
WHOLE = -1  # for a number of collected entries: nothing was collected
LANES = 32  # interleaved parts of a long row, whose maxima bound its k-th largest entry
PEEL = 24  # so many passes at most to find a k-th largest entry, else quickselect


@kernel(forceinline=True)
def largest_below(values, bound):
    """Largest entry < bound (LOWEST if none)."""
    top = LOWEST
    for i in range(values.shape[0]):
        v = values[i]
        top = larger(choose(v < bound, v, LOWEST), top)
    return top


@kernel(forceinline=True)
def smallest_above(values, bound):
    """Smallest entry > bound (-LOWEST if none)."""
    least = -LOWEST
    for i in range(values.shape[0]):
        v = values[i]
        least = smaller(choose(v > bound, v, -LOWEST), least)
    return least


@kernel(forceinline=True)
def count_equal(values, v):
    """Number of entries equal to v."""
    count = 0
    for i in range(values.shape[0]):
        count += values[i] == v
    return count


@kernel(forceinline=True)
def count_above(values, v):
    """Number of entries > v."""
    count = 0
    for i in range(values.shape[0]):
        count += values[i] > v
    return count


@kernel(forceinline=True)
def write_clipped(a, pivot, q, cap, x):
    """Write x = clip((a - pivot) + q, 0, cap); returns the sum of x."""
    s = 0.0
    for i in range(a.shape[0]):
        v = larger(smaller((a[i] - pivot) + q, cap), 0.0)
        x[i] = v
        s = plus(s, v)
    return s


@kernel(forceinline=True)
def write_zero(x):
    """Write x = 0; returns its sum."""
    for i in range(x.shape[0]):
        x[i] = 0.0
    return 0.0


@kernel
def _collect(a, floor, work):
    """Copy the entries > floor to ``work``; returns how many there are."""
    count = 0
    for i in range(a.shape[0]):
        work[count] = a[i]
        count += a[i] > floor
    return count


@kernel(forceinline=True)
def collect_above(a, floor, work):
    """Collect the entries > floor of a long row in ``work``; a short row stays whole.

    Returns how many there are, or WHOLE: ``near = a if count == WHOLE else work[:count]``.
    """
    return WHOLE if a.shape[0] <= SHORT else _collect(a, floor, work)


@kernel(forceinline=True)
def active(values, top, p):
    """Number of entries above top - p, and the sum of their distances to ``top`` (<= 0)."""
    count = 0
    total = 0.0
    for i in range(values.shape[0]):
        v = values[i] - top
        take = v > -p
        count += take
        total = plus(total, choose(take, v, 0.0))
    return count, total


@kernel
def uncapped_row(a, r, rho, equality, x, work):
    """Projection on {x >= 0, s = r} (``equality``) or {x >= 0, s <= r}; returns s.

    With D = a - max(a) <= 0 the solution is x = (D + p)_+. On the active set (c entries with sum
    total of D) p is the smaller of (r - total)/c, where s = r, and
    (max(a) - rho*total)/(1 + rho*c), where the threshold is t = rho*s. Newton's method from above
    shrinks the active set monotonically, so it ends after finitely many passes.
    """
    top = largest_below(a, np.inf)
    level = np.inf if equality else top
    if not (r > 0.0 and level > 0.0):
        return write_zero(x)
    p = min(r, level / (1.0 + rho))
    taken = collect_above(a, np.nextafter(top - p, -np.inf), work)
    near = a if taken == WHOLE else work[:taken]
    while True:
        count, total = active(near, top, p)
        new = min((r - total) / count, (level - rho * total) / (1.0 + rho * count))
        if not new < p:  # the same set again, up to rounding
            return write_clipped(a, top, p, np.inf, x)
        p = new


@kernel
def _quickselect(work, k):
    """Return the k-th largest entry; reorders ``work``. Pseudo-random pivots: O(d) expected."""
    lo, hi, seed = 0, work.shape[0] - 1, 12345
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
    return work[k - 1]


@kernel
def _kth_from_top(values, k):
    """Return the k-th largest entry by taking off one distinct value after the other."""
    value = np.inf
    ahead = 0
    while True:
        lower = largest_below(values, value)
        if lower == LOWEST:
            return value
        value = lower
        ahead += count_equal(values, value)
        if ahead >= k:
            return value


@kernel
def _kth_from_bottom(values, k):
    """Return the k-th smallest entry; as above."""
    value = -np.inf
    below = 0
    while True:
        higher = smallest_above(values, value)
        if higher == -LOWEST:
            return value
        value = higher
        below += count_equal(values, value)
        if below >= k:
            return value


@kernel
def _lower_bound(a, k, lanes):
    """Return a number that at least k entries of the long row ``a`` reach, few more if possible.

    The maxima of LANES interleaved parts are distinct entries; bisection finds a level that k of
    them reach. A few steps are enough, as any level will do.
    """
    for j in range(LANES):
        lanes[j] = a[j]
    for start in range(LANES, a.shape[0] - LANES + 1, LANES):
        for j in range(LANES):
            lanes[j] = larger(a[start + j], lanes[j])
    low = smallest_above(lanes, -np.inf)
    high = largest_below(lanes, np.inf)
    for _ in range(8):
        level = 0.5 * low + 0.5 * high
        count = count_above(lanes, level)
        if count < k:
            high = level
        else:
            low = level
            if count <= k + 2:
                break
    return low


@kernel
def kth_largest(a, k, span, work):
    """Return the k-th largest entry, and as ``collect_above`` those that exceed it less span."""
    d = a.shape[0]
    values = a
    if d > 2 * LANES and k <= PEEL:
        floor = np.nextafter(_lower_bound(a, k, work[:LANES]), -np.inf)
        values = work[: _collect(a, floor, work)]
    n = values.shape[0]
    if n - k < min(k, PEEL):
        value = _kth_from_bottom(values, n - k + 1)
    elif k <= PEEL:
        value = _kth_from_top(values, k)
    else:
        for i in range(d):
            work[i] = a[i]
        value = _quickselect(work[:d], k)
    if span == np.inf:
        return value, WHOLE
    return value, collect_above(a, min(value - span, np.nextafter(value, -np.inf)), work)


@kernel(forceinline=True)
def around(values, pivot, p, q):
    """Sums of the distances to the pivot: n, b above it by less than p, b_out by p or more.

    m, g below it by less than q. Entries equal to the pivot count nowhere.
    """
    n, m = 0, 0
    b, b_out, g = 0.0, 0.0, 0.0
    for i in range(values.shape[0]):
        v = values[i] - pivot
        inside = (v > 0.0) & (v < p)
        under = (v < 0.0) & (v > -q)
        n += inside
        m += under
        b = plus(b, choose(inside, v, 0.0))
        b_out = plus(b_out, choose(v >= p, v, 0.0))
        g = plus(g, choose(under, -v, 0.0))
    return n, b, b_out, m, g


@kernel(forceinline=True)
def ranks(values, pivot):
    """Return how many entries exceed the pivot, by how much in total, how many equal it.

    And the gap down to the next entry (huge if there is none).
    """
    higher, equal = 0, 0
    total = 0.0
    below = LOWEST
    for i in range(values.shape[0]):
        v = values[i]
        take = v > pivot
        higher += take
        equal += v == pivot
        total = plus(total, choose(take, v - pivot, 0.0))
        below = larger(choose(v < pivot, v, LOWEST), below)
    return higher, total, equal, pivot - below
