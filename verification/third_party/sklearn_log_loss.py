"""``sklearn.metrics.log_loss`` of SciPy's softmax: the softmax loss."""

from typing import Any

import numpy as np

PROBLEM = "softmax.value"
PACKAGES = ("scikit-learn", "scipy")
BATCH = False
FOUND = """Probabilities are clipped to [2.2e-16, 1 - 2.2e-16] before the logarithm, as documented: no loss is above
36.04, and none below 2.2e-16. Of a probability that has underflowed nothing better can be said; of scores
it can."""
REPRODUCE = """
import numpy as np
from scipy.special import softmax
from sklearn.metrics import log_loss

returned = log_loss([1], softmax([[100.0, 0.0]]), labels=[0, 1])
right = 100.0
"""


def candidate(scores: Any, y: Any) -> Any:
    """The mean over one row."""
    from scipy.special import softmax
    from sklearn.metrics import log_loss

    return log_loss([y], softmax(scores)[None, :], labels=np.arange(len(scores)))
