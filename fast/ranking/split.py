"""One pass from scores and labels to the negatives that may matter."""

import numpy as np

from fast._numba import kernel
from fast._validation import LIMIT
from fast.ranking.bits import EVERY, NONE, ONE, WIDTH, above, lowest, number, within, zero
from fast.ranking.kernels import place

_FEW = 24  # so many of 64 are looked for one by one


@kernel
def read_labels(labels, mask):
    """Write where labels are 1; returns how many are 0, -1 and anything else."""
    ones = zeros = minus = 0
    for i in range(labels.shape[0]):
        v = labels[i]
        ones += v == 1
        zeros += v == 0
        minus += v == -1
        mask[i] = v == 1
    return zeros, minus, labels.shape[0] - ones - zeros - minus


@kernel
def find_positives(scores, mask, positives, chosen):
    """Write the places of the positives, as many as ``positives`` has room for, and their scores."""
    n, p = mask.shape[0], positives.shape[0]
    whole = n - n % WIDTH
    k = 0
    for b in range(0, whole, WIDTH):
        hits = ~zero(mask, b)
        while hits:
            positives[k] = b + lowest(hits)
            k += 1
            hits &= hits - ONE
    for i in range(whole, n):
        if mask[i] != 0:
            positives[k] = i
            k += 1
    for k in range(p):
        chosen[k] = scores[positives[k]]


@kernel
def rank_positives(chosen, order, s, start):
    """Write the scores in descending order, and for each positive the first place of its score."""
    p = chosen.shape[0]
    first = 0
    for k in range(p):
        i = order[p - 1 - k]
        s[k] = chosen[i]
        if k and s[k] != s[k - 1]:
            first = k
        start[i] = first


@kernel
def collect(scores, mask, floor, near, places):
    """Copy negatives > floor and their places; returns how many, or -1 for a bad score."""
    n = scores.shape[0]
    count = 0
    good = EVERY
    whole = n - n % WIDTH
    for b in range(0, whole, WIDTH):
        good &= within(scores, b, LIMIT)
        hits = above(scores, b, floor) & zero(mask, b)
        if number(hits) < _FEW:
            while hits:
                i = b + lowest(hits)
                near[count] = scores[i]
                places[count] = i
                count += 1
                hits &= hits - ONE
        else:
            for i in range(b, b + WIDTH):
                near[count] = scores[i]
                places[count] = i
                count += hits & ONE != NONE
                hits >>= ONE
    fine = good == EVERY
    for i in range(whole, n):
        v = scores[i]
        fine &= abs(v) <= LIMIT
        near[count] = v
        places[count] = i
        count += (v > floor) & (mask[i] == 0)
    return count if fine else -1


@kernel
def floor_from(sample, least, p, size, wanted):
    """A floor that likely leaves all active negatives above; -inf if that would be most of them.

    ``sample`` is ascending; ``wanted`` the smallest number of its entries to keep, ``least`` the
    lowest score of the p positives. With c negatives above the floor, the next one has
    opt = P + 1 if h_P(c + 1) <= 0 (and c >= P - 1). Also returns how many entries are kept.
    """
    m = sample.shape[0]
    for r in range(wanted, m // 2):
        few = max(0.0, (r - 3.0 * np.sqrt(r)) / m * size)
        if 0.5 * size * p <= (least - sample[m - 1 - r]) * ((few + p) * (few + p + 1.0)):
            return sample[m - 1 - r], r
    return -np.inf, m


@kernel
def certified(count, floor, s, size):
    """Whether no negative <= floor, of which there are size - count, is active."""
    if count == size:
        return True
    p = s.shape[0]
    return place(count + 1, 1, p + 1, float(size), s, floor) == p + 1
