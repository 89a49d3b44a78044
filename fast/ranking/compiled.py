"""The compiled methods of inference for one query."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from fast._validation import raise_bad_entry
from fast.ranking import discounted as discounted
from fast.ranking import split as kernels
from fast.ranking.kernels import ALL, DIVIDE, NUMBERS, SELECT, STACK
from fast.ranking.losses import AVERAGE_PRECISION, RankLoss
from fast.ranking.packed import BITS, SHORT_BITS, infer_packed, pack, sort_shortened
from fast.ranking.result import Method, Ranking
from fast.ranking.select import select
from fast.ranking.write import BUCKETS, complete

_SAMPLED = 1 << 12  # from so many scores on, a sample of them says which negatives to sort
_SAMPLE = 1 << 10


def infer(
    number: int,
    scores: NDArray[np.float64],
    mask: NDArray[np.bool_],
    p: int,
    coefficients: NDArray[np.float64],
    weight: float,
    loss: RankLoss = AVERAGE_PRECISION,
) -> Ranking:
    """Inference by the method of this number; see ``inference.method``."""
    n = scores.shape[0]
    table = loss.table(n)
    plain = table.shape[1] == 0  # average precision
    # Numba compiles anew for arrays that may not be written to; none of these is.
    scores = scores if scores.flags.writeable else scores.copy()
    bits = (mask if mask.flags.writeable else mask.copy()).view(np.uint8)
    given = np.empty(p, dtype=np.int64)
    found, sample, floor, kept = None, None, -np.inf, 0
    if number == DIVIDE and n >= _SAMPLED:
        found = _find(scores, bits, p)
        step = max(n // _SAMPLE, 16)
        sample = np.sort(scores[::step][bits[::step] == 0])
        floor, kept = _floor(sample, found[1].min(), p, n - p, 0, table)
    if floor == -np.inf and n < 1 << BITS and number not in (SELECT, ALL):
        ranking = _packed(number, scores, bits, given, coefficients, weight, table)
        if ranking is not None:
            return ranking
    positives, chosen = found or _find(scores, bits, p)
    s, start = np.empty(p), np.empty(p, dtype=np.int64)
    kernels.rank_positives(chosen, np.argsort(chosen), s, start)
    near, places = np.empty(n), np.empty(n, dtype=np.int64)
    while True:
        count = kernels.collect(scores, bits, floor, near, places)
        if count < 0:
            raise_bad_entry("scores", scores)
        # A floor from a sample is a guess, but this is a proof: only time is left to chance.
        if (
            kernels.certified(count, floor, s, n - p)
            if plain
            else discounted.certified(count, floor, s, n - p, table)
        ):
            break
        floor, kept = _floor(sample, s[-1], p, n - p, 2 * kept + 16, table)
    near, places = near[:count], places[:count]
    t = near.copy()
    if number in (SELECT, ALL):
        t = t[: select(t, s)]
    t.sort()
    numbers = np.empty((4, max(4 * STACK, p)), dtype=np.int64)
    buckets = np.empty(BUCKETS * p + 1, dtype=np.int32)
    query, space = (near, places, positives, weight), (numbers, np.empty((2, p + 1)), buckets, near)
    ordered = s, start, t, n - p
    value, delta, active = complete(number, ordered, query, space, given, coefficients, table)
    return Ranking(value, delta, active, given)


def _floor(sample: Any, least: float, p: int, size: int, wanted: int, table: Any) -> Any:
    """A score below which likely no negative is active, and how many of the sample are above it."""
    if table.shape[1]:
        return discounted.floor_from(sample, least, p, size, wanted, table)
    return kernels.floor_from(sample, least, p, size, wanted)


def _find(
    scores: NDArray[np.float64], bits: NDArray[np.uint8], p: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Places and scores of the positives."""
    positives, chosen = np.empty(p, dtype=np.int64), np.empty(p)
    kernels.find_positives(scores, bits, positives, chosen)
    return positives, chosen


def _packed(
    number: int,
    scores: NDArray[np.float64],
    bits: NDArray[np.uint8],
    given: NDArray[np.int64],
    coefficients: NDArray[np.float64],
    weight: float,
    table: NDArray[np.float64],
) -> Ranking | None:
    """Inference by one sort of all samples; None where the scores do not suit it."""
    n = scores.shape[0]
    floats, integers = np.empty((2, n + 2)), np.empty((4, max(n + 2, 4 * STACK)), np.int64)
    keys = integers[3, :n]
    for short in (True, False) if n < 1 << SHORT_BITS else (False,):
        if not pack(scores, keys):
            raise_bad_entry("scores", scores)
        if short:
            sort_shortened(keys)
        else:
            keys.sort()
        value, loss, active = infer_packed(
            number, keys, scores, bits, weight, given, floats, integers, coefficients, table
        )
        if active >= 0:
            return Ranking(value, loss, active, given)
    return None


METHODS: dict[str, Method] = {name: partial(infer, number) for name, number in NUMBERS.items()}
