"""Functions that compute in float32 only."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.adapters._steps import Given, Step
from verification.errors import InvalidArgumentError


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
