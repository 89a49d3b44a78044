"""From the scores of one query to its most violated ranking: the methods, by name."""

import importlib

from fast.errors import InvalidParameterError
from fast.ranking.result import Method

METHODS = ("divide_and_conquer", "greedy", "search", "select", "all", "numpy")


def method(name: str) -> Method:
    """Inference by the method of this name.

    It is called with ``(scores, mask, p, coefficients, weight)``: float64 scores, a mask of the
    positives, how many there are. Coefficients, times ``weight``, are written where they are not 0.
    """
    if not isinstance(name, str) or name not in METHODS:
        raise InvalidParameterError(
            "method", repr(name), "one of " + ", ".join(map(repr, METHODS)), "choose one of them"
        )
    # numba only where something is compiled
    module = "in_numpy" if name == "numpy" else "compiled"
    found: Method = importlib.import_module(f"fast.ranking.{module}").METHODS[name]
    return found
