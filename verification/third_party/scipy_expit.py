"""``scipy.special.expit``, less 1 at the truth: the gradient of the one-vs-all logistic loss."""

from typing import Any

import numpy as np

PROBLEM = "ova_logistic.gradient"
PACKAGES = ("scipy",)
BATCH = False
FOUND = """The sigmoid is right to rounding; 1 less at the truth cancels, as with `scipy_softmax`. Minus the sigmoid of
the negative score is the same number, and keeps its digits."""
REPRODUCE = """
import numpy as np
from scipy.special import expit

returned = expit(40.0) - 1
right = -expit(-40.0)
"""


def candidate(scores: Any, y: Any) -> Any:
    """One vector."""
    from scipy.special import expit

    return expit(scores) - (np.arange(len(scores)) == y)
