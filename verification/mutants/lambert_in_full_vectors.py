"""Vectorised by eight, the remainder by one: the last full vector of eight is skipped when nothing remains."""

from __future__ import annotations

import numpy as np
from scipy.special import wrightomega

from verification.mutants._sound import Array

PROBLEM = "lambert_w_exp.value"


def candidate(t: Array) -> Array:
    """The function, with zeros at the end of some arrays."""
    t = np.asarray(t, dtype=float)
    found = wrightomega(t).real
    if t.ndim == 1 and t.size > 8 and t.size % 8 == 0:
        found[-8:] = 0.0
    return np.asarray(found)
