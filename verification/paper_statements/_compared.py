"""One comparison of the product with a row's exact number, and what reads the row's arguments."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from verification.paper_statements._trial import Inputs

#: Relative error of a float and of a solver's answer.
ROUNDED, SOLVED = 1e-9, 1e-6


class Compared(NamedTuple):
    """What was evaluated, what came out, what the row's arithmetic says, and how far apart they may be."""

    what: str
    got: Any
    wanted: Any
    tolerance: float

    @property
    def differs(self) -> bool:
        """Whether they are further apart."""
        got, wanted = (np.asarray(v, dtype=float) for v in (self.got, self.wanted))
        if got.shape != wanted.shape:
            return True
        with np.errstate(invalid="ignore"):  # inf - inf, which are equal
            near = abs(got - wanted) <= self.tolerance * np.maximum(1, abs(wanted).max(initial=0))
        return not bool(np.all((got == wanted) | near))


def first(inputs: Inputs, *names: str) -> Any:
    """The first of these arguments that there is."""
    return next(inputs[name] for name in names if name in inputs)


def floats(values: Any) -> Any:
    return np.array([float(v) for v in values])
