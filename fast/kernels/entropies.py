"""Row kernels of softmax and the top-k entropies, in u (costs added) over the d others.

L(u) = max of <u,x> - <x,log x> - (1 - s) log(1 - s), s = <1,x>, over Delta_k(1) of the variant
ALPHA or BETA, p is (variant, k); k = 1 is softmax for both. Arrays are writeable float64 with d entries; ``x`` and
``work`` are overwritten. 1 - s is never computed as a difference.
"""

import math

import numpy as np

from fast._elementary import exp, log
from fast._numba import inlined, kernel
from fast._simd import choose, larger, plus, smaller
from fast.kernels.hinges import ALPHA
from fast.kernels.projections import LOWEST, WHOLE, kth_largest, largest_below

TRUNCATED = 2  # the third variant, beside ALPHA and BETA

_FEW = 16  # so many largest entries at most are found by insertion
_BLOCK = 32  # entries


@kernel
def _sort_down(a):
    """Sort a few numbers in descending order (Shell's method)."""
    n = a.shape[0]
    gap = 1
    while 3 * gap < n:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            v = a[i]
            j = i
            while j >= gap and a[j - gap] < v:
                a[j] = a[j - gap]
                j -= gap
            a[j] = v
        gap //= 3


@kernel
def _insert_top(u, j, work):
    """Write the j largest entries to ``work`` in descending order, j small.

    A block of entries is looked at one by one only if its maximum is among the j largest so far.
    """
    for i in range(j):
        work[i] = LOWEST
    for start in range(0, u.shape[0], _BLOCK):
        block = u[start : start + _BLOCK]
        if not largest_below(block, np.inf) > work[j - 1]:
            continue
        for i in range(block.shape[0]):
            v = block[i]
            if v > work[j - 1]:
                t = j - 1
                while t > 0 and work[t - 1] < v:
                    work[t] = work[t - 1]
                    t -= 1
                work[t] = v


@kernel
def sort_top(u, j, work):
    """Write the j <= d largest entries to ``work`` in descending order.

    Returns how many of them exceed the j-th.
    """
    if j == 1:
        work[0] = largest_below(u, np.inf)
        return 0
    if j <= _FEW:
        _insert_top(u, j, work)
        above = j - 1
        while above > 0 and work[above - 1] == work[j - 1]:
            above -= 1
        return above
    pivot, taken = kth_largest(u, j, 0.0, work)
    near = u if taken == WHOLE else work[:taken]
    above = 0
    for i in range(near.shape[0]):
        v = near[i]
        if v > pivot:
            work[above] = v
            above += 1
    _sort_down(work[:above])
    for i in range(above, j):
        work[i] = pivot
    return above


@kernel
def tail(u, j, work):
    """Sort the top j; returns (b, Z): the j-th largest b, and Z e^b = sum of e^u but for the j - 1 largest."""
    above = sort_top(u, j, work)
    base = work[j - 1]
    total = 0.0
    equal = 0
    for i in range(u.shape[0]):
        v = u[i]
        equal += v == base
        total = plus(total, choose(v < base, exp(v - base), 0.0))
    return base, total + (equal - (j - 1 - above))


@kernel
def capped(variant, u, k, work):
    """Find the capped entries; returns (n, b, Z).

    The n largest are capped, n the smallest number for which (k - n) e^b <= Z e^b (+ 1 for BETA) with
    b the next entry and Z e^b the sum of e^u over all but these n. Z is added up from the small end:
    no differences. The n largest stand in ``work``. For n = d (BETA with k > d) Z = 0.
    """
    d = u.shape[0]
    base, z = tail(u, min(k, d), work)
    return narrowed(variant, k, d, base, z, work)


@kernel
def narrowed(variant, k, d, base, z, work):
    """The same from what `tail` returns."""
    n = k - 1
    if k > d:
        n, base, z = d, LOWEST, 0.0
    while n > 0:
        top = work[n - 1]
        wider = 1.0 + exp(base - top) * z
        if k - n + 1 > wider + (0.0 if variant == ALPHA else exp(-top)):
            break
        n, base, z = n - 1, top, wider
    return n, base, z


@kernel
def level(base, z):
    """Return p and D e^p = 1 + Z e^b: p = max(b, 0)."""
    p = max(base, 0.0)
    return p, exp(-p) + exp(base - p) * z


@kernel
def log_one_plus(base, z):
    """log(1 + Z e^b), accurate when it is tiny too."""
    p, total = level(base, z)
    return p + math.log(total) if p > 0.0 else math.log1p(exp(base) * z)


@kernel
def _log_odds(n, k, base, z, work):
    """The v of the ALPHA loss log(1 + e^v) with n capped entries."""
    rise = 0.0
    for i in range(n):
        rise += work[i] - base
    rho = n / k
    return base + rise / k + (rho * math.log(k) + (1.0 - rho) * math.log(z / (1.0 - rho)))


@inlined
def value_row(p, u, x, work):
    """Return the loss L(u) > 0."""
    variant, k = p
    n, base, z = capped(variant, u, k, work)
    return value_of(variant, k, n, base, z, work)


@kernel
def value_of(variant, k, n, base, z, work):
    """The loss, from what `capped` finds."""
    if variant == ALPHA and n > 0:
        return log_one_plus(_log_odds(n, k, base, z, work), 1.0)
    rest = log_one_plus(base, z)
    if n == 0:
        return rest
    total = 0.0
    for i in range(n):
        total += work[i]
    rho = n / k
    return total / k + (rho * math.log(k) + (1.0 - rho) * (rest - math.log1p(-rho)))


@kernel
def shares(variant, k, n, base, z, work):
    """From what `capped` finds, (b, factor, cap, s, 1 - s): x = min(factor e^(u - b), cap), s = <1,x>."""
    rho = n / k
    if variant == ALPHA and n > 0:
        v = _log_odds(n, k, base, z, work)
        p, total = level(v, 1.0)
        s = exp(v - p) / total
        return base, s * (1.0 - rho) / z, s / k, s, exp(-p) / total
    p, total = level(base, z)
    factor = (1.0 - rho) / total
    return p, factor, 1.0 / k, rho + factor * (exp(base - p) * z), factor * exp(-p)


@kernel
def point_row(variant, u, k, x, work):
    """Write the gradient x of L at u, a point of Delta_k(1); returns 1 - <1,x>."""
    n, base, z = capped(variant, u, k, work)
    shift, factor, cap, _, rest = shares(variant, k, n, base, z, work)
    for i in range(u.shape[0]):
        x[i] = smaller(factor * exp(u[i] - shift), cap)
    return rest


@kernel
def conjugate_row(p, x, costs, complement, slack):
    """Return <x,log x> + (1-s) log(1-s) - <costs,x> on Delta_k(1), +inf outside.

    ``complement`` is 1 - s (a negative number: not known). ``slack`` > 0 allows for rounding, as in
    the conjugate of the hinges.
    """
    variant, k = p
    s = 0.0
    largest = 0.0
    least = 0.0
    total = 0.0
    for i in range(x.shape[0]):
        v = x[i]
        s = plus(s, v)
        largest = larger(v, largest)
        least = larger(-v, least)
        total = plus(total, choose(v > 0.0, v * log(larger(v, 1e-307)), 0.0) - costs[i] * v)
    bound = s if variant == ALPHA else 1.0
    room = 1.0 + slack
    inside = s <= room and k * largest <= bound * room and k * least <= bound * slack
    rest = max(1.0 - s, 0.0)
    if complement >= 0.0:
        inside = inside and abs(rest - complement) <= slack
        rest = complement
    if not inside:
        return np.inf
    if s < 0.5:
        return total + (1.0 - s) * math.log1p(-s)
    return total + (rest * math.log(rest) if rest > 0.0 else 0.0)


@kernel
def keep_row(u, k, keep, work):
    """Mark with 1 the entries kept by the truncated loss, with 0 the k - 1 largest.

    Among equals the first are dropped. Returns the largest entry kept.
    """
    above = sort_top(u, k, work)
    base = work[k - 1]
    drop = k - 1 - above
    for i in range(u.shape[0]):
        keep[i] = choose(u[i] <= base, 1.0, 0.0)
    for i in range(u.shape[0]):
        if drop == 0:
            break
        if u[i] == base:
            keep[i] = 0.0
            drop -= 1
    return base
