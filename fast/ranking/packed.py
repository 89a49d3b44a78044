"""Inference for a query of moderate size: score and place of a sample share one integer.

NumPy sorts integers as fast as scores, and integers can carry their places along: the upper bits
are the score, rounded to a fine grid between the smallest and the largest, the lower ones the
place. Samples that fall on one point of the grid are put in order afterwards.
"""

import sys

import numpy as np

from fast._numba import kernel
from fast._simd import larger, smaller
from fast._validation import LIMIT
from fast.ranking.bits import EVERY, ONE, WIDTH, lowest, within, zero
from fast.ranking.kernels import STACK, run
from fast.ranking.write import totals

BITS = 14  # of a place: queries with fewer than 2^14 samples
SHORT_BITS = 12  # the same, where 32 bits of an integer are sorted
_GRID = 2.0 ** (62 - BITS)


@kernel
def pack(scores, keys):
    """Write the integers to sort, later samples first among equal ones; False for a bad score."""
    n = scores.shape[0]
    good = EVERY
    whole = n - n % WIDTH
    for b in range(0, whole, WIDTH):
        good &= within(scores, b, LIMIT)
    fine = good == EVERY
    for i in range(whole, n):
        fine &= abs(scores[i]) <= LIMIT
    if not fine:
        return False
    least, most = scores[0], scores[0]
    for i in range(n):
        least, most = smaller(scores[i], least), larger(scores[i], most)
    width = most - least
    scale = _GRID / width if width > 1e-280 else 0.0
    last = (1 << BITS) - 1
    for i in range(n):
        keys[i] = (np.int64((scores[i] - least) * scale) << BITS) | (last - i)
    return True


def sort_shortened(keys: np.ndarray) -> None:
    """Sort what ``pack`` wrote by 32 bits of each, half the time of 64: places, and scores on a coarser grid.

    For fewer than 2^SHORT_BITS samples. Only the places are right in what is left of the integers.
    """
    halves, low = keys.view(np.uint32), int(sys.byteorder == "big")
    places = np.uint32((1 << SHORT_BITS) - 1)
    short = halves[1 - low :: 2] & ~places
    short |= halves[low::2] & places
    short.sort()
    np.bitwise_or(short, np.uint32(((1 << BITS) - 1) & ~int(places)), out=keys)


@kernel
def _unpack(keys, scores, order, ranked):
    """Write places and scores in ascending order; False where the grid was far too coarse.

    That happens if one score is far from many others. Of equal scores the last comes first.
    """
    n = keys.shape[0]
    last = (1 << BITS) - 1
    before = -np.inf
    falls = 0
    for r in range(n):
        i = last - (keys[r] & last)
        v = scores[np.uint64(i)]
        order[r] = i
        ranked[r] = v
        falls += v < before
        before = v
    if falls == 0:
        return True
    moves = 0
    for r in range(1, n):
        if ranked[r] < ranked[r - 1]:
            v, i = ranked[r], order[r]
            q = r
            while q > 0 and ranked[q - 1] > v:
                ranked[q] = ranked[q - 1]
                order[q] = order[q - 1]
                q -= 1
            ranked[q] = v
            order[q] = i
            moves += r - q
            if moves > 16 * n:
                return False
    return True


@kernel
def infer_packed(method, keys, scores, mask, weight, given, floats, numbers, coefficients, table):
    """From sorted integers to the ranking; returns L, Delta and the number of active negatives.

    That number is -1 where other means must be used, see ``_unpack``. ``floats`` (2, n + 2) and
    ``numbers`` (3, n + 2 or more) are overwritten.
    """
    n, p = scores.shape[0], given.shape[0]
    order, ranked = numbers[0], floats[0]
    if not _unpack(keys, scores, order, ranked):
        return 0.0, 0.0, -1
    # Positives go down to place 1, negatives up; the place beyond takes what is not meant.
    # Unsigned, or each index would be checked for counting from the end.
    s, t = floats[1, : p + 1], floats[1, p + 1 :]
    above, below = numbers[1, : p + 1], numbers[1, p + 1 :]
    i = np.uint64(p)
    j = np.uint64(0)
    for r in range(n):
        v, place = ranked[r], order[r]
        positive = np.uint64(mask[np.uint64(place)])
        s[i] = v
        t[j] = v
        above[i] = place
        below[j] = place
        i -= positive
        j += ONE - positive
    size = n - p
    s, above, t = s[1:], above[1:], t[:size]
    counts = numbers[2, :p]
    run(method, s, t, size, counts, numbers[0, : 4 * STACK].reshape(STACK, 4), table)
    weights, at = ranked, numbers[0]
    value, loss = totals(s, t, size, counts, weights, table)
    unit = 2.0 / (float(p) * size) * weight
    for r in range(size - counts[p - 1], size):
        coefficients[np.uint64(below[r])] = unit * weights[r]
    for k in range(p):
        at[above[k]] = counts[k]
        coefficients[above[k]] = 0.0 - unit * counts[k]  # no -0
    found = 0
    whole = n - n % WIDTH
    for b in range(0, whole, WIDTH):
        hits = ~zero(mask, b)
        while hits:
            given[found] = at[b + lowest(hits)]
            found += 1
            hits &= hits - ONE
    for place in range(whole, n):
        if mask[place]:
            given[found] = at[place]
            found += 1
    return value, loss, counts[p - 1]
