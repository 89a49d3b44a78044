"""``numpy.logaddexp(0, x)``, summed: the one-vs-all logistic loss."""

from typing import Any

import numpy as np

PROBLEM = "ova_logistic.value"
PACKAGES = ("numpy",)
BATCH = False
FOUND = """Right at every scale: the textbook formula needs no package."""


def candidate(scores: Any, y: Any) -> Any:
    """One vector."""
    signed = np.array(scores)
    signed[y] = -signed[y]
    return np.logaddexp(0.0, signed).sum()
