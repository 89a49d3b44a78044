"""Reads what a solver of a set, loss or function returned: numbers, perhaps with a dual point."""

from typing import Any

import numpy as np

from verification.kit.parts import AnswerError, read
from verification.verdicts.verdict import Candidate


def unwrap(output: Any, pair: bool = False, triple: bool = False) -> Candidate:
    """Make what a candidate returned a `Candidate`; AnswerError if it is no numbers.

    ``pair``: (answer, 1 - s) is expected; ``triple``: (value, counts, coefficients) is possible.
    """
    complement = value = counts = None
    if pair:
        if not isinstance(output, tuple) or len(output) != 2:
            raise AnswerError(f"returned {output!r:.200}, expected a pair (answer, 1 - s)")
        output, complement = output
    if triple and isinstance(output, tuple):
        if len(output) != 3:
            raise AnswerError(f"returned {output!r:.200}, expected (value, counts, coefficients)")
        value, counts, output = output
        if np.ndim(value) != 0 or not np.isreal(value) or np.asarray(counts).dtype.kind not in "iu":
            raise AnswerError(
                f"returned {output!r:.200}, expected (value, counts, coefficients) of a real number, "
                "an array of integers and one of real numbers"
            )
    if hasattr(output, "x") and not isinstance(output, np.ndarray):
        output, dual = output.x, getattr(output, "dual", None)
    else:
        dual = None
    x = read(output)
    if x.dtype.kind not in "fiu":
        raise AnswerError(f"returned {output!r:.200}, not an array of real numbers")
    if np.ma.is_masked(output):
        raise AnswerError("returned a masked array with masked entries, which are no numbers")
    if complement is not None:
        complement = np.asarray(complement)
        if complement.dtype.kind not in "fiu":
            raise AnswerError(f"returned 1 - s = {complement!r:.200}, not a real number")
    try:
        dual = None if dual is None else np.asarray(dual)
    except Exception:  # it is optional, and no use
        dual = None
    return Candidate(x, dual, complement, value, counts)
