"""From the counts of the sorted scores to loss and coefficients in input order.

Sorting negatives with their places would cost three times as much as sorting their scores: so
scores alone are sorted, and each negative finds its rank again by its score, through a table.
"""

import numpy as np

from fast._numba import kernel
from fast._simd import larger, plus, smaller
from fast.ranking import discounted as discounted
from fast.ranking.bits import ONE
from fast.ranking.exact import two_sum
from fast.ranking.kernels import STACK, run

_BLOCK = 64
BUCKETS = 8  # buckets of the table per part
_MOST = 32  # with more bounds than this in one bucket, bisection


@kernel
def totals(s, t, size, counts, weights, table):
    """L and Delta of ascending counts, each to some units of rounding of its terms.

    Scores count relative to the middle positive: a common offset cancels exactly. Sums over
    blocks run in any order, sums of blocks have a second word. The positives below each active
    negative are written to ``weights``, in the order of ``t``.
    """
    p, n = s.shape[0], t.shape[0]
    shift, unit = s[p >> 1], 2.0 / (float(p) * size)
    active = counts[p - 1]
    for r in range(n - active, n):
        weights[r] = 0.0
    for k in range(p):
        if counts[k]:
            weights[n - counts[k]] += 1.0
    below = 0
    for r in range(n - active, n):
        below += int(weights[r])
        weights[r] = below
    loss = loss_low = gain = gain_low = 0.0
    for first in range(0, p, _BLOCK):
        near = down = 0.0
        for k in range(first, min(first + _BLOCK, p)):
            c = float(counts[k])
            near = plus(near, c / (k + 1.0 + c))
            down = plus(down, (unit * c) * (s[k] - shift))
        loss, error = two_sum(loss, near)
        loss_low += error
        gain, error = two_sum(gain, -down)
        gain_low += error
    for first in range(n - active, n, _BLOCK):
        up = 0.0
        for r in range(first, min(first + _BLOCK, n)):
            up = plus(up, (unit * weights[r]) * (t[r] - shift))
        gain, error = two_sum(gain, up)
        gain_low += error
    loss = discounted.delta(counts, table) if table.shape[1] else (loss + loss_low) / p
    value = loss + (gain + gain_low)
    return (value if value > 0.0 else 0.0), loss


@kernel
def _edges(t, counts, more, unit, edge, bound, gain, cursor, at):
    """Ranks as parts of the sorted negatives: part e ends before edge[e], and gets ``gain``.

    ``bound`` is the last score of a part, -inf for the inactive ones. Where the next one is the
    same (or unknown: there are ``more`` than in ``t``), ``cursor`` is the first place of that
    score, else -1; ``at`` is the part the cursor is in. Returns the number of parts and of cursors.
    """
    p, n = counts.shape[0], t.shape[0]
    e = 0
    ties = 0
    done = 0
    for k in range(p):
        c = counts[k]
        if c == done:
            continue
        edge[e] = done = c
        bound[e] = t[n - c]
        gain[e] = unit * (p - k)
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
            ties += 1
        e += 1
    bound[e] = -np.inf
    gain[e] = 0.0
    return e, ties


@kernel(forceinline=True)
def _bucket(v, top, scale, size):
    return int(larger(smaller((top - v) * scale, size - 1.0), 0.0))


@kernel
def _fill_table(bound, parts, top, scale, size, table):
    """Write table[q] = parts whose bound lies in a bucket before q; returns the most in one."""
    done = 0
    most = 0
    for e in range(parts):
        q = _bucket(bound[e], top, scale, size)
        while done <= q:
            table[done] = e
            done += 1
        most = max(most, e + 1 - table[q])
    while done <= size:
        table[done] = parts
        done += 1
    return most


@kernel(forceinline=True)
def _part(v, q, bound, table):
    """The part of a negative in bucket q."""
    low, high = table[q], table[q + 1]
    while low < high:
        middle = (low + high) >> 1
        if bound[middle] > v:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def write_negatives(near, places, t, counts, unit, numbers, floats, table, coefficients):
    """Write ``unit`` times the positives below each negative to its place.

    Of equal scores the first in input order comes first. ``numbers`` is (3, >= P) integers,
    ``floats`` (2, > P), ``table`` has more than 8 P entries.
    """
    bound, gain = floats[0], floats[1]
    edge, cursor, at = numbers[0], numbers[1], numbers[2]
    more = near.shape[0] > t.shape[0]
    parts, ties = _edges(t, counts, more, unit, edge, bound, gain, cursor, at)
    if parts == 0:
        return
    size = BUCKETS * parts if near.shape[0] > 4 * parts else 1
    top, width = bound[0], bound[0] - bound[parts - 1]
    scale = size / width if width > 1e-280 else 0.0
    most = _fill_table(bound, parts, top, scale, size, table)
    if most <= _MOST and not ties:
        # Unsigned, or each index would be checked for counting from the end.
        for i in range(near.shape[0]):
            v = near[i]
            e = np.uint64(table[np.uint64(_bucket(v, top, scale, size))])
            while bound[e] > v:
                e += ONE
            coefficients[np.uint64(places[i])] = gain[e]
        return
    for i in range(near.shape[0]):
        v = near[i]
        e = _part(v, _bucket(v, top, scale, size), bound, table)
        if e < parts and cursor[e] >= 0 and v == bound[e]:
            first = e
            while at[first] < parts and cursor[first] >= edge[at[first]]:
                at[first] += 1
            e = at[first]
            cursor[first] += 1
        coefficients[places[i]] = gain[e]


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
def complete(method, sorted_scores, query, space, given, coefficients, loss_table):
    """From sorted scores to the ranking; returns L, Delta and the number of active negatives.

    Of the sorted scores (s, start, t, size), the query (near, places, positives, weight) and the space
    (numbers, floats, table, work) ``numbers`` is (4, >= P) integers, at least 4 STACK, and ``work`` is as
    long as ``t``, or ``near``.
    """
    s, start, t, size = sorted_scores
    near, places, positives, weight = query
    numbers, floats, table, work = space
    p = s.shape[0]
    counts = numbers[3, :p]
    run(method, s, t, size, counts, numbers[0, : 4 * STACK].reshape(STACK, 4), loss_table)
    unit = 2.0 / (float(p) * size) * weight
    write_negatives(near, places, t, counts, unit, numbers, floats, table, coefficients)
    write_positives(start, counts, positives, unit, numbers[0], given, coefficients)
    value, loss = totals(s, t, size, counts, work, loss_table)
    return value, loss, counts[p - 1]
