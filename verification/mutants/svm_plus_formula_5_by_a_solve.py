"""(5) with a solve for its inverse, and the correcting function from it: (v, rho) = Zt'(alpha - C Q alpha)/lam."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array, Data

PROBLEM = "svm_plus_squared_hinge.primal"
ERRATA = ("xu_2016/cancellation",)


def inverse(data: Data, kernel: Array) -> Array:
    """A difference of nearly equal matrices."""
    inner = np.linalg.solve(np.diag(data.lam / data.cost) + kernel, kernel)
    Q = (kernel - kernel @ inner) / data.lam
    return (Q + Q.T) / 2


def candidate(**given: Any) -> dict[str, Any]:
    """What cancels in Q is divided by lam once more."""
    data = sound.prepare(given, True)
    found = sound.train_plus(given, True, inverse=inverse)
    gamma = (found["alpha"] + found["beta"])[data.kept]
    xi = inverse(data, sound.augmented(data)) @ gamma
    r = (gamma - data.cost * xi) / data.lam
    return {**sound.primal(found), "v": data.weights(data.Z, r), "rho": float(np.sum(r))}
