"""From the scores of one query to its most violated ranking: sort, place, sum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fast.errors import InvalidParameterError

METHODS = ("divide_and_conquer", "greedy", "search")


class Ranking(NamedTuple):
    """The most violated ranking of one query.

    Attributes
    ----------
    value, delta : float
        L and 1 - AP.
    counts : ndarray, shape (P,)
        Negatives above each positive, in the order of ``positives``.
    below : ndarray
        Positives below each of the ``active`` negatives.
    positives, active : ndarray of int
        Places in the scores.
    """

    value: float
    delta: float
    counts: NDArray[np.int64]
    below: NDArray[np.int64]
    positives: NDArray[np.int64]
    active: NDArray[np.int64]
    unit: float

    def write(self, coefficients: NDArray[np.float64], weight: float) -> None:
        """Put ``weight`` times the subgradient in its places; the others are left alone."""
        coefficients[self.positives] = 0.0 - self.counts * (self.unit * weight)  # no -0
        coefficients[self.active] = self.below * (self.unit * weight)


def method(name: str) -> Callable[..., Ranking]:
    """Inference by the method of this name, for ``(scores, positives, negatives)``."""
    if name not in METHODS:
        raise InvalidParameterError(
            "method", repr(name), "one of " + ", ".join(map(repr, METHODS)), "choose one of them"
        )

    def run(
        scores: NDArray[np.float64], positives: NDArray[np.int64], negatives: NDArray[np.int64]
    ) -> Ranking:
        return _infer(name, scores, positives, negatives)

    return run


def delta(ascending: NDArray[Any]) -> float:
    """1 - AP of ascending counts: the mean of c_k/(k + c_k), without cancellation."""
    ranks = np.arange(1, ascending.shape[0] + 1)
    return float(np.mean(ascending / (ranks + ascending)))


def _infer(
    name: str,
    scores: NDArray[np.float64],
    positives: NDArray[np.int64],
    negatives: NDArray[np.int64],
) -> Ranking:
    from fast.losses import _ap_kernels as kernels

    p, n = positives.shape[0], negatives.shape[0]
    order = np.argsort(-scores[positives], kind="stable")
    ranked = negatives[np.argsort(-scores[negatives], kind="stable")]
    s = scores[positives[order]]
    t = scores[ranked]
    counts = np.empty(p, dtype=np.int64)
    if name == "greedy":
        kernels.greedy(s, t, n, counts)
    elif name == "search":
        kernels.search(s, t, n, counts)
    else:
        kernels.divide(s, t, n, counts, np.empty((128, 4), dtype=np.int64))
    active = int(counts[-1])
    below = np.repeat(np.arange(p, 0, -1), np.diff(counts, prepend=0))
    unit = 2.0 / (float(p) * n)
    shift = s[p // 2]
    gain = np.sum(below * (t[:active] - shift)) - np.sum(counts * (s - shift))
    loss = delta(counts)
    given = np.empty(p, dtype=np.int64)
    given[order] = counts
    total = max(loss + unit * float(gain), 0.0)
    return Ranking(total, loss, given, below, positives, ranked[:active], unit)
