"""Inference for a loss that discounts ranks, by the table of `fast.ranking.losses.DiscountedGain`.

h_k(j) is not monotone in k, as that of average precision is for k <= j: the ranks in question are tried one by one.
"""

import math

import numpy as np

from fast._numba import kernel

_UNIT = 2.3e-16
_LOG_2 = math.log(2.0)


@kernel
def place(j, low, high, size, s, t, table):
    """Largest maximiser of delta_j over low..high; what rounding can't tell apart is a tie.

    ``lead`` is delta_j(i) - delta_j(best), times P N/2; its error is at most ``unit * weight``.
    """
    p = s.shape[0]
    drops = table[1]
    scale = 0.5 * p * size / table[2, p]
    unit = _UNIT * (high - low + 12)
    best = high
    lead = 0.0
    weight = 0.0
    for i in range(high - 1, low - 1, -1):
        gain = scale * drops[np.uint64(j + i)]
        cost = s[i - 1] - t
        lead += gain - cost
        weight += gain + abs(cost)
        if lead > unit * weight:
            best = i
            lead = 0.0
            weight = 0.0
    return best


@kernel
def delta(counts, table):
    """1 - DCG/best DCG of ascending counts."""
    p = counts.shape[0]
    logs = table[0]
    lost = 0.0
    for k in range(2, p + 2):
        c = counts[k - 2]
        if c:
            lost += math.log1p(c / k) / (logs[k] * logs[k + c])
    return _LOG_2 * lost / table[2, p]


@kernel
def floor_from(sample, least, p, size, wanted, table):
    """As `fast.ranking.split.floor_from`: with j = c + 1 the next negative is likely below all positives if
    delta_j(1) = d(j) - d(P + j) less its costs, all taken at the lowest positive, is not positive.
    """
    m = sample.shape[0]
    scale = 0.5 * size / table[2, p]
    for r in range(wanted, m // 2):
        j = 1.0 + max(0.0, (r - 3.0 * np.sqrt(r)) / m * size)
        a, b = math.log(1.0 + j), math.log(1.0 + j + p)
        if scale * _LOG_2 * math.log1p(p / (1.0 + j)) / (a * b) <= least - sample[m - 1 - r]:
            return sample[m - 1 - r], r
    return -np.inf, m


@kernel
def certified(count, floor, s, size, table):
    """Whether no negative <= floor, of which there are size - count, is active; beyond rounding, as they are many."""
    if count == size:
        return True
    p = s.shape[0]
    scale = 0.5 * p * size / table[2, p]
    lead = 0.0
    weight = 0.0
    for i in range(p, 0, -1):
        gain = scale * table[1, count + 1 + i]
        cost = s[i - 1] - floor
        lead += gain - cost
        weight += gain + abs(cost)
        if lead > -_UNIT * (p + 12) * weight:
            return False
    return True
