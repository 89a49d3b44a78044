"""From the scores of one query to its most violated ranking: the methods, by name."""

import importlib
from functools import partial

import numpy as np
from numpy.typing import ArrayLike, NDArray

from fast.errors import InvalidParameterError
from fast.ranking.labels import positives_of, scores_of
from fast.ranking.losses import AVERAGE_PRECISION, RankLoss
from fast.ranking.result import Method, Ranking


def method(name: str, loss: RankLoss = AVERAGE_PRECISION) -> Method:
    """Inference for a loss by the method of this name.

    It is called with ``(scores, mask, p, coefficients, weight)``: float64 scores, a mask of the
    positives, how many there are. Coefficients, times ``weight``, are written where they are not 0.
    """
    if not isinstance(name, str) or name not in loss.methods:
        raise InvalidParameterError(
            "method", repr(name), "one of " + ", ".join(map(repr, loss.methods)), "choose one of them"
        )
    # numba only where something is compiled
    module = "in_numpy" if name == "numpy" else "compiled"
    found: Method = importlib.import_module(f"fast.ranking.{module}").METHODS[name]
    return found if loss == AVERAGE_PRECISION else partial(found, loss=loss)


def most_violated(
    loss: RankLoss, scores: ArrayLike, y: ArrayLike, name: str
) -> tuple[Ranking, NDArray[np.float64]]:
    """The most violated ranking of one query, and its coefficients (n,)."""
    run = method(name, loss)
    values = scores_of(scores)
    mask, p = positives_of(y, values.shape[0], compiled=name != "numpy")
    coefficients = np.zeros(values.shape[0])
    return run(values, mask, p, coefficients, 1.0), coefficients
