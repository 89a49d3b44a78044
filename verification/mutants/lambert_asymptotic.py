"""W(e^t) = t - log t for t > 20: the first two terms of its expansion."""

from __future__ import annotations

import numpy as np
from scipy.special import wrightomega

from verification.mutants._sound import Array

PROBLEM = "lambert_w_exp.value"


def candidate(t: Array) -> Array:
    """The function with a cheap tail."""
    t = np.asarray(t, dtype=float)
    return np.where(t > 20, t - np.log(np.maximum(t, 20.0)), wrightomega(t).real)
