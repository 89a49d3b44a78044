"""One Householder step for W(e^t) from a crude start: seven digits at best."""

from __future__ import annotations

import numpy as np

from verification.mutants._sound import Array
from verification.mutants._sound_entropy import point

PROBLEM = "topk_entropy_alpha.prox"
ERRATA = ("lapin_2016/one_householder_step",)


def lambert(t: Array) -> Array:
    """W(e^t) after one step of order three."""
    w = np.where(t > 1.0, t - np.log(np.maximum(t, 1.0)), np.exp(np.minimum(t, 1.0) - 1.0))
    w = np.maximum(w, np.finfo(float).tiny)
    r = t - w - np.log(w)
    return np.asarray(w * (1.0 + r / (1.0 + w) + r * r / (2.0 * (1.0 + w) ** 3)))


def candidate(v: Array, k: int = 1, t: float = 1.0, costs: Array | None = None) -> Array:
    """Prox whose roots are taken from the mutant's W."""
    v = np.asarray(v, dtype=float)
    b = v + (0.0 if costs is None else costs)
    x, _ = point(b, t, 0, k, True)
    free = x < x.max() * (1 - 1e-12) if k > 1 else np.ones(x.size, dtype=bool)
    # the multiplier that the sound solution has, the roots of the wrong function
    theta = b - t * x - np.log(np.maximum(x, 1e-300))
    x[free] = lambert(b[free] - theta[free] + np.log(t)) / t
    return v - t * x
