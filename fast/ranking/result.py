"""What inference finds: the most violated ranking of one query."""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray


class Ranking(NamedTuple):
    """The most violated ranking of one query.

    Attributes
    ----------
    value, delta : float
        L and 1 - AP.
    active : int
        Negatives above some positive.
    counts : ndarray, shape (P,)
        Negatives above each positive, in the order of the positives given.
    """

    value: float
    delta: float
    active: int
    counts: NDArray[np.int64]


Method = Callable[..., Ranking]


def delta(ascending: NDArray[Any]) -> float:
    """1 - AP of ascending counts: the mean of c_k/(k + c_k), without cancellation."""
    ranks = np.arange(1, ascending.shape[0] + 1)
    return float(np.mean(ascending / (ranks + ascending)))
