"""From the scores of one query to its most violated ranking: split, sort, place, sum."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from fast.errors import InvalidParameterError

METHODS = ("divide_and_conquer", "greedy", "search", "select", "all", "numpy")


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


def method(name: str) -> Method:
    """Inference by the method of this name.

    It is called with ``(scores, mask, p, coefficients, weight)``: float64 scores, a mask of the
    positives, how many there are. Coefficients, times ``weight``, are written where they are not 0.
    """
    if not isinstance(name, str) or name not in METHODS:
        raise InvalidParameterError(
            "method", repr(name), "one of " + ", ".join(map(repr, METHODS)), "choose one of them"
        )
    if name not in _loaded:
        _load(name)
    return _loaded[name]


_loaded: dict[str, Method] = {}


def _load(name: str) -> None:
    """Import what the method needs: numba only where something is compiled."""
    if name == "numpy":
        from fast.losses import _ap_numpy

        _loaded[name] = _ap_numpy.infer
    else:
        from fast.losses import _ap_compiled

        _loaded.update(_ap_compiled.METHODS)


def delta(ascending: NDArray[Any]) -> float:
    """1 - AP of ascending counts: the mean of c_k/(k + c_k), without cancellation."""
    ranks = np.arange(1, ascending.shape[0] + 1)
    return float(np.mean(ascending / (ranks + ascending)))
