"""``sklearn.metrics.hinge_loss`` of one sample: Crammer and Singer's hinge."""

from __future__ import annotations

from typing import Any

import numpy as np

PROBLEM = "multiclass_hinge.value"
PACKAGES = ("scikit-learn",)
BATCH = False
FAILS = ()
FOUND = """Right, ties and scales included. It is a mean over samples, hence one sample at a time; two
classes want one score, f_1 - f_0."""


def candidate(scores: Any, y: Any) -> Any:
    """Mean over one sample."""
    from sklearn.metrics import hinge_loss

    m = len(scores)
    decision = scores[None, :] if m > 2 else np.array([scores[1] - scores[0]])
    return hinge_loss([y], decision, labels=np.arange(m))
