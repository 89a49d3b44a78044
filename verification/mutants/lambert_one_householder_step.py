"""One Householder step: enough for float32 outside of (-2, 4), never for double precision."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants.entropy_one_newton_step import lambert

PROBLEM = "lambert_w_exp.value"
ERRATA = ("lapin_2016/one_householder_step",)


def candidate(t: Array) -> Array:
    """The function to some digits."""
    t = np.asarray(t, dtype=float)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        return np.nan_to_num(lambert(t))
