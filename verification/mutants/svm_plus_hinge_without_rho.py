"""SVM1+ without its rho: xi = <v,z>, and no equation for the sum of alpha and beta."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array, Data

PROBLEM = "svm_plus_hinge.dual"


def solve(data: Data, Q: Array) -> tuple[Array, Array, float]:
    """Alpha and beta with <alpha,y> = 0 only."""
    y, n = data.y, len(data.y)
    Q = (data.Kz + data.delta * np.eye(n)) / data.lam
    H, c, A = data.K * np.outer(y, y) + Q, 1 + Q @ data.cost, y[None, :]
    if data.nonneg:
        H, c = np.block([[H, Q], [Q, Q]]), np.append(c, Q @ data.cost)
        A = np.append(A, np.zeros((1, n)), axis=1)
    x = sound.qp(H, c, A, np.zeros(1), np.full(len(c), data.cost.mean() / 2), most=60).x
    return x[:n], x[n:] if data.nonneg else np.zeros(n), 0.0


def candidate(**given: Any) -> dict[str, Any]:
    """Multipliers of another problem."""
    return sound.dual(sound.train_plus(given, False, solve=solve))
