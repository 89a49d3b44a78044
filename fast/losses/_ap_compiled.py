"""The compiled methods of inference for one query."""

from __future__ import annotations

from functools import partial

import numpy as np
from numpy.typing import NDArray

from fast._validation import raise_bad_entry
from fast.losses import _ap_kernels as kernels
from fast.losses import _ap_split as split
from fast.losses._ap_inference import Method, Ranking
from fast.losses._ap_select import select

_SAMPLED = 1 << 14  # from so many scores on, a sample of them says which negatives to sort
_SAMPLE = 1 << 10


def infer(
    number: int,
    scores: NDArray[np.float64],
    mask: NDArray[np.bool_],
    positives: NDArray[np.int64],
    coefficients: NDArray[np.float64],
    weight: float,
) -> Ranking:
    """Inference by the method of this number; see ``_ap_inference.method``."""
    n, p = scores.shape[0], positives.shape[0]
    above = scores[positives]
    s, start = np.empty(p), np.empty(p, dtype=np.int64)
    split.rank_positives(above, np.argsort(above), s, start)
    near, places = np.empty(n), np.empty(n, dtype=np.int64)
    count = -1
    if number == kernels.DIVIDE and n >= _SAMPLED:
        count = _survivors(scores, mask, s, near, places)
    if count < 0:
        count = split.collect(scores, mask, -np.inf, near, places)
    if count < 0:
        raise_bad_entry("scores", scores)
    near, places = near[:count], places[:count]
    if number in (kernels.SELECT, kernels.ALL):
        work = near.copy()
        t = np.sort(work[: select(work, s)])
    else:
        t = np.sort(near)
    given = np.empty(p, dtype=np.int64)
    numbers = np.empty((6, max(4 * kernels.STACK, 4 * p + 2)), dtype=np.int64)
    value, loss, active = split.complete(
        number, s, start, t, n - p, near, places, positives, weight, given, numbers, above,
        coefficients,
    )  # fmt: skip
    return Ranking(value, loss, active, given)


def _survivors(
    scores: NDArray[np.float64],
    mask: NDArray[np.bool_],
    s: NDArray[np.float64],
    near: NDArray[np.float64],
    places: NDArray[np.int64],
) -> int:
    """Collect a set of negatives that provably holds the active ones; -1 if not worthwhile.

    The floor comes from a sample; whether it was right is checked, so that only time is random.
    """
    size = scores.shape[0] - s.shape[0]
    step = scores.shape[0] // _SAMPLE
    sample = np.sort(scores[::step][~mask[::step]])
    wanted = 0
    while True:
        floor, wanted = split.floor_from(sample, s, size, wanted)
        if floor == -np.inf:
            return -1
        count = split.collect(scores, mask, floor, near, places)
        if count < 0 or split.certified(count, floor, s, size):
            return int(count)
        wanted = 2 * wanted + 16


METHODS: dict[str, Method] = {
    "divide_and_conquer": partial(infer, kernels.DIVIDE),
    "greedy": partial(infer, kernels.GREEDY),
    "search": partial(infer, kernels.SEARCH),
    "select": partial(infer, kernels.SELECT),
    "all": partial(infer, kernels.ALL),
}
