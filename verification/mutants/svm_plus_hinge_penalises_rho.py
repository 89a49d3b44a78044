"""SVM1+ with lam/2 rho^2, as SVM2+ has it: the kernel is Kz + 1."""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.mutants import _sound_svm as sound
from verification.mutants._sound_svm import Array, Data

PROBLEM = "svm_plus_hinge.primal"


def candidate(**given: Any) -> dict[str, Any]:
    """A feature more in Z."""
    data = sound.prepare(given, False)
    data.Kz = data.Kz + 1
    data.Z = None if data.Z is None else np.column_stack([data.Z, np.ones(len(data.y))])
    found = sound.primal(_without_rho(data))
    return found


def _without_rho(data: Data) -> dict[str, Any]:
    n = len(data.y)

    def solve(data: Data, Q: Array) -> tuple[Array, Array, float]:
        y = data.y
        Q = (data.Kz + data.delta * np.eye(n)) / data.lam
        H, c, A = data.K * np.outer(y, y) + Q, 1 + Q @ data.cost, y[None, :]
        if data.nonneg:
            H, c = np.block([[H, Q], [Q, Q]]), np.append(c, Q @ data.cost)
            A = np.append(A, np.zeros((1, n)), axis=1)
        start = np.full(len(c), data.cost.mean() / 2)
        x = sound.qp(H, c, A, np.zeros(1), start).x
        return x[:n], x[n:] if data.nonneg else np.zeros(n), 0.0

    found = sound.train_plus({}, False, solve=solve, data=data)
    v, rho = found["v"], 0.0
    if data.Z is None:
        rho = float(v.sum())
    else:
        v, rho = v[:-1], float(v[-1])
    return {**found, "v": v, "rho": rho}
