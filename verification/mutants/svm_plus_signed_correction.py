"""Footnote 1: the correcting function y(<v,z> + rho), that is Q * yy' in the place of Q."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array, Data

PROBLEM = "svm_plus_squared_hinge.dual"
ERRATA = ("xu_2016/footnote_1",)


def inverse(data: Data, kernel: Array) -> Array:
    """Q of the signed rows y_i zt_i."""
    return sound.deformed(data, kernel) * np.outer(data.y, data.y)


def candidate(**given: Any) -> dict[str, Any]:
    """Multipliers of the signed problem."""
    return sound.dual(sound.train_plus(given, True, inverse=inverse))
