"""What inference finds: the most violated ranking of one query."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Ranking(NamedTuple):
    """The most violated ranking of one query.

    Attributes
    ----------
    value, delta : float
        L and Delta.
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
