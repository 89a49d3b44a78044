"""The compiled methods of inference for one query."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from fast._validation import raise_bad_entry
from fast.losses import _ap_split as kernels
from fast.losses._ap_inference import Method, Ranking
from fast.losses._ap_kernels import ALL, DIVIDE, GREEDY, SEARCH, SELECT, STACK
from fast.losses._ap_packed import BITS, infer_packed, pack
from fast.losses._ap_select import select
from fast.losses._ap_write import BUCKETS, complete

_SAMPLE = 1 << 10


def infer(
    number: int,
    scores: NDArray[np.float64],
    mask: NDArray[np.bool_],
    p: int,
    coefficients: NDArray[np.float64],
    weight: float,
) -> Ranking:
    """Inference by the method of this number; see ``_ap_inference.method``."""
    n = scores.shape[0]
    # Numba compiles anew for arrays that may not be written to; none of these is.
    scores = scores if scores.flags.writeable else scores.copy()
    bits = (mask if mask.flags.writeable else mask.copy()).view(np.uint8)
    given = np.empty(p, dtype=np.int64)
    if n < 1 << BITS and number not in (SELECT, ALL):
        floats, integers = np.empty((2, n + 2)), np.empty((4, max(n + 2, 4 * STACK)), np.int64)
        keys = integers[3, :n]
        if not pack(scores, keys):
            raise_bad_entry("scores", scores)
        keys.sort()
        value, loss, active = infer_packed(
            number, keys, scores, bits, weight, given, floats, integers, coefficients
        )
        if active >= 0:
            return Ranking(value, loss, active, given)
    positives, chosen = np.empty(p, dtype=np.int64), np.empty(p)
    kernels.find_positives(scores, bits, positives, chosen)
    s, start = np.empty(p), np.empty(p, dtype=np.int64)
    near, places = np.empty(n), np.empty(n, dtype=np.int64)
    order = np.argsort(chosen)
    count = -1
    if number == DIVIDE and n >= 1 << BITS:  # a sample says which negatives to sort
        kernels.rank_positives(chosen, order, s, start)
        count = _survivors(scores, bits, s, near, places)
    if count < 0:
        count = kernels.split(scores, bits, chosen, order, s, start, near, places)
    if count < 0:
        raise_bad_entry("scores", scores)
    near, places = near[:count], places[:count]
    t = near.copy()
    if number in (SELECT, ALL):
        t = t[: select(t, s)]
    t.sort()
    numbers = np.empty((4, max(4 * STACK, p)), dtype=np.int64)
    table = np.empty(BUCKETS * p + 1, dtype=np.int32)
    value, loss, active = complete(
        number, s, start, t, n - p, near, places, positives, weight, given, numbers,
        np.empty((2, p + 1)), table, near, coefficients,
    )  # fmt: skip
    return Ranking(value, loss, active, given)


def _survivors(
    scores: NDArray[np.float64],
    bits: NDArray[np.uint8],
    s: NDArray[np.float64],
    near: NDArray[np.float64],
    places: NDArray[np.int64],
) -> int:
    """Collect a set of negatives that provably holds the active ones; -1 if not worthwhile.

    The floor comes from a sample; whether it was right is checked, so that only time is random.
    """
    size = scores.shape[0] - s.shape[0]
    step = scores.shape[0] // _SAMPLE
    sample = np.sort(scores[::step][bits[::step] == 0])
    wanted = 0
    while True:
        floor, wanted = kernels.floor_from(sample, s, size, wanted)
        if floor == -np.inf:
            return -1
        count = kernels.collect(scores, bits, floor, near, places)
        if count < 0 or kernels.certified(count, floor, s, size):
            return int(count)
        wanted = 2 * wanted + 16


METHODS: dict[str, Method] = {
    "divide_and_conquer": partial(infer, DIVIDE),
    "greedy": partial(infer, GREEDY),
    "search": partial(infer, SEARCH),
    "select": partial(infer, SELECT),
    "all": partial(infer, ALL),
}
