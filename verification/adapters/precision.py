"""Functions that compute in float32 only."""

from typing import Any

import numpy as np

from verification.adapters._steps import Given, Step
from verification.errors import InvalidArgumentError
from verification.instances.instance import Instance


class Rounded(Step):
    """Arrays of floats are passed in another precision; numbers stay Python floats.

    The answer is judged with the tolerances of that precision: `verification.verify` reads the
    adapter's ``dtype`` and rounds every instance to it first, so that nothing is lost here.
    """

    def __init__(self, dtype: Any):
        try:
            self.dtype = np.dtype(dtype)
        except TypeError as error:
            raise InvalidArgumentError(f"dtype={dtype!r}: expected e.g. 'float32'") from error
        if self.dtype.kind != "f":
            raise InvalidArgumentError(
                f"dtype={dtype!r}: expected a type of floats, e.g. 'float32'"
            )

    def before(self, given: Given) -> Given:
        """Cast arrays of floats."""
        return {
            name: v.astype(self.dtype) if isinstance(v, np.ndarray) and v.dtype.kind == "f" else v
            for name, v in given.items()
        }


def canonicalized(instance: Instance, dtype: Any) -> Instance | None:
    """An instance rounded to a precision; None if a number has no finite, nonzero counterpart there."""
    with np.errstate(over="ignore", under="ignore"):
        rounded = instance.astype(dtype)
    for name, value in instance.params.items():
        if np.asarray(value).dtype.kind != "f":
            continue
        there = np.asarray(rounded[name])
        if not np.array_equal(np.isfinite(there), np.isfinite(value)):
            return None
        if not there.any() and np.any(value):  # a radius of 1e-50 is no float32
            return None
    return rounded
