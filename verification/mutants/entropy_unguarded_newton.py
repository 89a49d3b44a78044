"""Newton's method for s itself, without a bracket: once 1 - s is small a step goes beyond 1, into NaN."""

from __future__ import annotations

import numpy as np
from scipy.special import wrightomega

from verification.mutants._sound import Array

PROBLEM = "softmax.prox"
ERRATA = ("lapin_2016/unguarded_newton",)


def candidate(v: Array, t: float = 1.0, costs: Array | None = None) -> Array:
    """Prox by sum_j X(b_j + log(1 - s)) = s from s = 1/2."""
    v = np.asarray(v, dtype=float)
    b = v + (0.0 if costs is None else costs)
    s, shift = 0.5, float(np.log(t))
    with np.errstate(divide="ignore", invalid="ignore"):
        for _ in range(100):
            x = wrightomega(b + np.log(1 - s) + shift).real / t
            step = (x.sum() - s) / ((x / (1 + t * x)).sum() / (1 - s) + 1)
            s += step
            if abs(step) <= 1e-16 * s:
                break
        return np.asarray(v - wrightomega(b + np.log(1 - s) + shift).real)
