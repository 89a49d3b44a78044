"""``scipy.special.entr``, summed: the conjugate of the softmax loss."""

from typing import Any

import numpy as np

PROBLEM = "softmax.conjugate"
PACKAGES = ("scipy",)
BATCH = False
FOUND = """Right: entr is 0 at 0, and minus infinity below."""


def candidate(x: Any) -> Any:
    """<x, log x> + (1 - s) log(1 - s), infinite outside of the simplex, as entr is."""
    from scipy.special import entr

    return -entr(np.append(x, 1 - x.sum())).sum()
