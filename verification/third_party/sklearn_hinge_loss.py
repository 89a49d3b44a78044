"""``sklearn.metrics.hinge_loss`` of one sample: Crammer and Singer's hinge."""

from typing import Any

import numpy as np

PROBLEM = "multiclass_hinge.value"
PACKAGES = ("scikit-learn",)
BATCH = False
DEFECT = "``hinge_loss`` of samples of class 1 alone takes them for class 0."
FOUND = """Right for three classes and more, ties and scales included. With two classes a sample
of class 1 alone is taken for one of class 0: the binary branch learns its labels from ``y_true``
and ignores ``labels``, so that one class alone, whichever it is, is the negative one. The
documentation wants two values in ``y_true`` and says that ``labels`` is for the multiclass loss;
a batch of one class is outside of that, but gets a wrong number, not an error."""
REPRODUCE = """
import numpy as np
from sklearn.metrics import hinge_loss

returned = hinge_loss([1], np.array([2.0]), labels=[0, 1])  # class 1, decided with margin 2
right = 0.0
"""


def candidate(scores: Any, y: Any) -> Any:
    """Mean over one sample."""
    from sklearn.metrics import hinge_loss

    m = len(scores)
    decision = scores[None, :] if m > 2 else np.array([scores[1] - scores[0]])
    return hinge_loss([y], decision, labels=np.arange(m))
