"""W(e^t) as lambertw(exp(t)): e^t overflows from t = 710 on."""

from __future__ import annotations

import numpy as np
from scipy.special import lambertw

from verification.mutants._sound import Array

PROBLEM = "lambert_w_exp.value"
ERRATA = ("lapin_2016/lambertw_overflow",)


def candidate(t: Array) -> Array:
    """The function as it is written."""
    with np.errstate(over="ignore", invalid="ignore"):
        return np.asarray(lambertw(np.exp(np.asarray(t, dtype=float))).real)
