"""``scipy.special.log_softmax``, whose entry y is minus the softmax loss."""

from typing import Any

import numpy as np

PROBLEM = "softmax.value"
PACKAGES = ("scipy",)
FOUND = """As `scipy_logsumexp`, it loses relative accuracy where the true class leads: the sum 1 +
exp(-8) is rounded before its logarithm is taken, which leaves twelve digits of the loss at a lead
of 8, none at 37. ``log1p`` of the sum over the others would keep them. The absolute error is that
of rounding; SciPy promises better accuracy than log(softmax(x)), which it has."""
REPRODUCE = """
import numpy as np
from scipy.special import log_softmax

returned = -log_softmax(np.array([0.0, -8.0]))[0]
right = np.log1p(np.exp(-8.0))  # 0.00033540637289576885
"""


def candidate(scores: Any, y: Any) -> Any:
    """The loss of one row, or of each."""
    from scipy.special import log_softmax

    logs = np.asarray(log_softmax(scores, axis=-1))
    return -np.take_along_axis(logs, np.expand_dims(np.asarray(y), -1), -1).squeeze(-1)
