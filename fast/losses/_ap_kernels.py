"""Loss-augmented inference for average precision on sorted scores: where each negative belongs.

With P positives s_1 >= s_2 >= ... and N negatives t_1 >= t_2 >= ..., placing the j-th negative right
above the i-th positive (i = P + 1: below all) gains delta_j(i) = sum_{k >= i} h_k(j),

    h_k(j) = (1/P) k/((j + k)(j + k - 1)) - 2 (s_k - t_j)/(P N),

and opt_j, the largest maximiser i, is non-decreasing in j because h_k(j) falls with j. All methods
return counts: c_k = #{j: opt_j <= k}, the negatives above the k-th positive, non-decreasing in k.
Only the first ``t.shape[0]`` of the N negatives are looked at; the others must have opt_j = P + 1.

Signs are exact, so that every method returns the same counts: a float64 comparison decides where
its error bound allows, and two or more words of it (``_ap_exact``) where not.
"""

from __future__ import annotations

from fast._numba import kernel
from fast.losses._ap_exact import scan_exactly, sign_of_slope

_UNIT = 2.3e-16


@kernel(forceinline=True)
def rises(k, j, size, s, t):
    """h_k(j) > 0, for N = size and scores s of the positive, t of the negative."""
    m = float(j + k)
    left = 0.5 * size * k
    right = (s - t) * (m * (m - 1.0))
    d = left - right
    if abs(d) > 1e-15 * left:
        return d > 0.0
    return sign_of_slope(float(k), m, size, s, t) > 0


@kernel
def first_rising(j, low, high, size, s, t):
    """First i in low..high - 1 with h_i(j) > 0, else high; h rises with i <= j."""
    while low < high:
        middle = (low + high) >> 1
        if rises(middle, j, size, s[middle - 1], t):
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def scan(j, low, high, size, s, t):
    """Largest maximiser of delta_j over low..high, by running sums from the right.

    ``lead`` is delta_j(i) - delta_j(best); its error is at most ``unit * weight``.
    """
    unit = _UNIT * (high - low + 4)
    half = 0.5 * size
    best = high
    lead = 0.0
    weight = 0.0
    for i in range(high - 1, low - 1, -1):
        m = float(j + i)
        gain = half * i / (m * (m - 1.0))
        cost = s[i - 1] - t
        lead += gain - cost
        weight += gain + abs(cost)
        if lead > -unit * weight:
            if lead <= unit * weight:
                return scan_exactly(j, low, high, size, s, t)
            best = i
            lead = 0.0
            weight = 0.0
    return best


@kernel
def place(j, low, high, size, s, t):
    """opt_j, known to lie in low..high.

    delta_j is concave on 1..j + 1: bisection on the sign of h. Beyond, and for the comparison of
    both parts, sums.
    """
    if high <= j + 1:
        return first_rising(j, low, high, size, s, t)
    if low <= j:
        low = first_rising(j, low, j + 1, size, s, t)
    return scan(j, low, high, size, s, t)


@kernel
def greedy(s, t, size, counts):
    """Yue et al. 2007: every rank of every negative is tried."""
    p = s.shape[0]
    counts[:] = 0
    for j in range(1, t.shape[0] + 1):
        i = scan(j, 1, p + 1, float(size), s, t[j - 1])
        if i <= p:
            counts[i - 1] += 1
    _accumulate(counts)


@kernel
def search(s, t, size, counts):
    """Mohapatra et al. 2014, Alg. 2: each negative by itself."""
    p = s.shape[0]
    counts[:] = 0
    for j in range(1, t.shape[0] + 1):
        i = place(j, 1, p + 1, float(size), s, t[j - 1])
        if i <= p:
            counts[i - 1] += 1
    _accumulate(counts)


@kernel
def _accumulate(counts):
    """From the number of negatives right above each positive to those anywhere above it."""
    for k in range(1, counts.shape[0]):
        counts[k] += counts[k - 1]


@kernel
def divide(s, t, size, counts, stack):
    """Divide and conquer: opt of the middle negative bounds those of both halves.

    A part whose negatives all have the same rank is not looked at. ``stack`` (128, 4) holds
    the parts that wait: first and last negative, lowest and highest rank.
    """
    p = s.shape[0]
    counts[:] = 0
    stack[0, 0], stack[0, 1], stack[0, 2], stack[0, 3] = 1, t.shape[0], 1, p + 1
    depth = 1
    while depth:
        depth -= 1
        first, last = stack[depth, 0], stack[depth, 1]
        low, high = stack[depth, 2], stack[depth, 3]
        while first <= last:
            if low == high:
                if low <= p:
                    counts[low - 1] += last - first + 1
                break
            j = (first + last) >> 1
            i = place(j, low, high, float(size), s, t[j - 1])
            if i <= p:
                counts[i - 1] += 1
            stack[depth, 0], stack[depth, 1] = j + 1, last
            stack[depth, 2], stack[depth, 3] = i, high
            depth += 1
            last = j - 1
            high = i
    _accumulate(counts)
