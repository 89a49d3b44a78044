"""``scipy.special.logsumexp`` as the softmax loss, log sum_j exp(f_j) - f_y."""

from typing import Any

import numpy as np

PROBLEM = "softmax.value"
PACKAGES = ("scipy",)
FOUND = """Right to machine precision in the absolute sense, which is all that a difference of two
numbers near f_y can be. The kit asks for the relative accuracy that the loss, log(1 + sum
exp(f_j - f_y)), can have: where the true class wins clearly the digits are gone, and from a lead of about
37 on the loss is 0. SciPy does not promise otherwise; the subtraction is ours."""
REPRODUCE = """
import numpy as np
from scipy.special import logsumexp

scores = np.array([40.0, 0.0])
returned = logsumexp(scores) - scores[0]
right = np.log1p(np.exp(-40.0))  # 4.248354255291589e-18
"""


def candidate(scores: Any, y: Any) -> Any:
    """The loss of one row, or of each."""
    from scipy.special import logsumexp

    return logsumexp(scores, axis=-1) - np.take_along_axis(
        scores, np.expand_dims(np.asarray(y), -1), -1
    ).squeeze(-1)
