"""Mohapatra et al. 2014, Alg. 3, corrected: the active negatives without sorting the others."""

from fast._numba import kernel
from fast.ranking.kernels import place


@kernel
def select(values, s):
    """Move the active negatives to the front of ``values``; returns how many there are.

    Binary search for the first negative with opt = P + 1, in descending order of scores; the one
    in the middle comes from a quickselect among those still in question, so that all of them
    together cost O(N).
    """
    p, n = s.shape[0], values.shape[0]
    low, high = 0, n
    while low < high:
        middle = (low + high) >> 1
        _partition(values, low, high, middle)
        if place(middle + 1, 1, p + 1, float(n), s, values[middle]) == p + 1:
            high = middle
        else:
            low = middle + 1
    return low


@kernel
def _partition(values, low, high, k):
    """Quickselect in low..high - 1: the k-th largest to place k, larger ones before it."""
    high -= 1
    draw = 1
    while low < high:
        # Three entries by a congruential generator: no order of the scores is slow on purpose.
        draw = (draw * 1103515245 + 12345) & 0x7FFFFFFF
        width = high - low + 1
        a, b, c = values[low + draw % width], values[low + (draw >> 8) % width], values[high]
        pivot = max(min(a, b), min(max(a, b), c))
        i, j = low, high
        while i <= j:
            while values[i] > pivot:
                i += 1
            while values[j] < pivot:
                j -= 1
            if i <= j:
                values[i], values[j] = values[j], values[i]
                i += 1
                j -= 1
        if k <= j:
            high = j
        elif k >= i:
            low = i
        else:
            return
