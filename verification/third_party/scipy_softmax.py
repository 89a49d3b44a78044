"""``scipy.special.softmax`` minus the unit vector of the truth: the gradient of the softmax loss."""

from typing import Any

import numpy as np

PROBLEM = "softmax.gradient"
PACKAGES = ("scipy",)
FOUND = """The probabilities are right to machine precision. The gradient made of them in the
usual way, p - e_y, is not where p_y is close to 1: 1 - p_y cancels, and the entries no longer sum
to 0 to the relative accuracy of their sizes. The gradient at y is minus the sum of the others;
computed so it is right. SciPy promises nothing about the difference, which is ours (and nearly
everybody's)."""
REPRODUCE = """
import numpy as np
from scipy.special import softmax

returned = softmax(np.array([8.0, 0.0])) - np.array([1.0, 0.0])
p = np.exp(-8.0) / (1 + np.exp(-8.0))
right = np.array([-p, p])
"""


def candidate(scores: Any, y: Any) -> Any:
    """Probabilities, less 1 at the truth."""
    from scipy.special import softmax

    p = np.array(softmax(scores, axis=-1))
    at = np.expand_dims(np.asarray(y), -1)
    np.put_along_axis(p, at, np.take_along_axis(p, at, -1) - 1, -1)
    return p
