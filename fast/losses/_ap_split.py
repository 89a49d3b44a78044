"""One pass from scores and labels to the negatives that may matter, and one back to coefficients.

Sorting negatives with their places would cost three times as much as sorting their scores: so
scores alone are sorted, and each negative finds its rank again by its score, through a table.
"""

from __future__ import annotations

import numpy as np

from fast._numba import kernel
from fast._simd import larger, plus, smaller
from fast._validation import LIMIT
from fast.losses._ap_exact import two_sum
from fast.losses._ap_kernels import STACK, place, run

_BLOCK = 32
_BUCKETS = 4  # buckets of the table per edge


@kernel
def rank_positives(above, order, s, start):
    """Write the scores in descending order, and for each positive the first place of its score."""
    p = above.shape[0]
    first = 0
    for k in range(p):
        i = order[p - 1 - k]
        s[k] = above[i]
        if k and s[k] != s[k - 1]:
            first = k
        start[i] = first


@kernel
def collect(scores, mask, floor, near, places):
    """Copy negatives > floor and their places; returns how many, or -1 for a bad score."""
    n = scores.shape[0]
    count = 0
    good = 0
    whole = n - n % _BLOCK
    for b in range(0, whole, _BLOCK):
        hits = 0
        for i in range(b, b + _BLOCK):
            v = scores[i]
            good += abs(v) <= LIMIT
            hits += v > floor
        if hits:
            for i in range(b, b + _BLOCK):
                v = scores[i]
                near[count] = v
                places[count] = i
                count += (v > floor) & (mask[i] == 0)
    for i in range(whole, n):
        v = scores[i]
        good += abs(v) <= LIMIT
        near[count] = v
        places[count] = i
        count += (v > floor) & (mask[i] == 0)
    return count if good == n else -1


@kernel
def floor_from(sample, s, size, wanted):
    """A floor that likely leaves all active negatives above; -inf if that would be most of them.

    ``sample`` is ascending; ``wanted`` the smallest number of its entries to keep. With c
    negatives above the floor, the next one has opt = P + 1 if h_P(c + 1) <= 0 (and c >= P - 1).
    """
    m = sample.shape[0]
    p = s.shape[0]
    for r in range(wanted, m // 2):
        few = max(0.0, (r - 3.0 * np.sqrt(r)) / m * size)
        if 0.5 * size * p <= (s[p - 1] - sample[m - 1 - r]) * ((few + p) * (few + p + 1.0)):
            return sample[m - 1 - r], r
    return -np.inf, m


@kernel
def certified(count, floor, s, size):
    """Whether no negative <= floor, of which there are size - count, is active."""
    if count == size:
        return True
    p = s.shape[0]
    return place(count + 1, 1, p + 1, float(size), s, floor) == p + 1


@kernel
def _sum_above(t, first, last, shift):
    """Sum of t - shift over a slice: blocks in any order, then with a second word."""
    high = 0.0
    low = 0.0
    for b in range(first, last, 256):
        part = 0.0
        for i in range(b, min(b + 256, last)):
            part = plus(part, t[i] - shift)
        high, error = two_sum(high, part)
        low += error
    return high + low


@kernel
def totals(s, t, size, counts):
    """L and 1 - AP of ascending counts, each to a few units of rounding of its terms.

    Scores count relative to the middle positive: a common offset cancels exactly.
    """
    p, n = s.shape[0], t.shape[0]
    shift = s[p >> 1]
    loss = loss_low = gain = gain_low = inside = inside_low = 0.0
    done = 0
    for k in range(p):
        c = counts[k]
        if c > done:
            inside, error = two_sum(inside, _sum_above(t, n - c, n - done, shift))
            inside_low += error
            done = c
        loss, error = two_sum(loss, c / (k + 1.0 + c))
        loss_low += error
        gain, error = two_sum(gain, inside - c * (s[k] - shift))
        gain_low += error + inside_low
    loss = (loss + loss_low) / p
    value = loss + 2.0 / (float(p) * size) * (gain + gain_low)
    return (value if value > 0.0 else 0.0), loss


@kernel
def _edges(t, counts, more, edge, bound, below, cursor, at):
    """Ranks as parts of the sorted negatives: part e ends before edge[e], with ``below`` positives.

    ``bound`` is the last score of a part. Where the next one is the same (or unknown: there are
    ``more`` than in ``t``), ``cursor`` is the first place of that score, else -1; ``at`` is the
    part the cursor is in.
    """
    p, n = counts.shape[0], t.shape[0]
    e = 0
    done = 0
    for k in range(p):
        c = counts[k]
        if c == done:
            continue
        edge[e] = done = c
        bound[e] = t[n - c]
        below[e] = p - k
        at[e] = e
        cursor[e] = -1
        if t[n - c - 1] == bound[e] if c < n else more:
            low, high = 0, c
            while low < high:
                middle = (low + high) >> 1
                if t[n - 1 - middle] > bound[e]:
                    low = middle + 1
                else:
                    high = middle
            cursor[e] = low
        e += 1
    return e


@kernel(forceinline=True)
def _bucket(v, top, scale, size):
    return int(larger(smaller((top - v) * scale, size - 1.0), 0.0))


@kernel
def write_negatives(near, places, t, counts, unit, numbers, bound, coefficients):
    """Write ``unit`` times the positives below each active negative to its place.

    Of equal scores the first in input order comes first. ``numbers`` is (5, >= 4 P + 2) integers.
    """
    edge, below = numbers[0], numbers[1]
    cursor, at, table = numbers[2], numbers[3], numbers[4]
    more = near.shape[0] > t.shape[0]
    parts = _edges(t, counts, more, edge, bound, below, cursor, at)
    if parts == 0:
        return
    # table[q]: parts whose bound lies in a bucket before q
    size = _BUCKETS * parts if near.shape[0] > 8 * parts else 1
    top, width = bound[0], bound[0] - bound[parts - 1]
    scale = size / width if width > 1e-280 else 0.0
    e = 0
    for q in range(size):
        while e < parts and _bucket(bound[e], top, scale, size) < q:
            e += 1
        table[q] = e
    table[size] = parts
    for i in range(near.shape[0]):
        v = near[i]
        q = _bucket(v, top, scale, size)
        low, high = table[q], table[q + 1]
        while low < high:
            middle = (low + high) >> 1
            if bound[middle] > v:
                low = middle + 1
            else:
                high = middle
        if low < parts and cursor[low] >= 0 and v == bound[low]:
            first = low
            while at[first] < parts and cursor[first] >= edge[at[first]]:
                at[first] += 1
            low = at[first]
            cursor[first] += 1
        if low < parts:
            coefficients[places[i]] = unit * below[low]


@kernel
def write_positives(start, counts, positives, unit, used, given, coefficients):
    """Write the counts in input order and -``unit`` times them; equal scores keep their order."""
    p = counts.shape[0]
    for k in range(p):
        used[k] = k
    for i in range(p):
        k = used[start[i]]
        used[start[i]] += 1
        given[i] = counts[k]
        coefficients[positives[i]] = 0.0 - unit * counts[k]  # no -0


@kernel
def complete(
    method, s, start, t, size, near, places, positives, weight, given, numbers, bound, coefficients
):
    """From sorted scores to the ranking; returns L, 1 - AP and the number of active negatives."""
    p = s.shape[0]
    counts = numbers[5, :p]
    run(method, s, t, size, counts, numbers[0, : 4 * STACK].reshape(STACK, 4))
    value, loss = totals(s, t, size, counts)
    unit = 2.0 / (float(p) * size) * weight
    write_negatives(near, places, t, counts, unit, numbers, bound, coefficients)
    write_positives(start, counts, positives, unit, numbers[0], given, coefficients)
    return value, loss, counts[p - 1]
