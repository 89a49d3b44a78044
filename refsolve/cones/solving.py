"""Points and multipliers proposed by a solver. Nothing here is believed by anything else."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve._lazy import clarabel
from refsolve._types import Array
from refsolve.cones.program import ConeProgram


@dataclass(frozen=True)
class Proposal:
    """What a solver says: a point and multipliers, or a ray of either."""

    x: Array
    z: Array
    status: str

    @property
    def solved(self) -> bool:
        """Whether the solver calls it a solution; what it calls a ray is none."""
        return "Infeasible" not in self.status


def proposal(
    program: ConeProgram, *, margin: float = 0.0, reward: float = 0.0, tolerance: float = 1e-11
) -> Proposal | None:
    """Ask Clarabel.

    Parameters
    ----------
    program : ConeProgram
    margin : float
        Ask for a point whose slack is inside the cones by this (times 1 + |b|, a row at a time).
    reward : float
        Reward slack by this much, so that the multipliers, handed back with as much added, are inside
        the dual cone by it.
    tolerance : float
    """
    n, m = len(program.q), len(program.b)
    if n == 0:
        return Proposal(np.zeros(0), np.zeros(m), "empty")
    A = sp.csc_array(program.A)
    inner = program.inwards(dual=True)
    size = 1.0 + np.abs(program.b) if margin else np.ones(m)
    for rows in program.second_order:
        size[rows] = size[rows].max()
    for start in program.exponential.tolist():
        size[start : start + 3] = size[start : start + 3].max()
    for _, rows in program.more:
        size[rows] = size[rows].max()
    b = program.b - margin * size * program.inwards()
    q = program.q + reward * (A.T @ inner)
    cones: list[Any] = []
    if program.zero:
        cones.append(clarabel.ZeroConeT(program.zero))
    if program.nonneg:
        cones.append(clarabel.NonnegativeConeT(program.nonneg))
    cones += [clarabel.SecondOrderConeT(size) for size in program.soc]
    cones += [clarabel.ExponentialConeT()] * program.exp
    for block, _ in program.more:
        cones += block.clarabel()
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    settings.max_iter = 200
    P = sp.triu(sp.csc_array(program.P), format="csc")
    solution = clarabel.DefaultSolver(P, q, A, b, cones, settings).solve()
    x, z = np.array(solution.x), np.array(solution.z)
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(z))):
        return None
    return Proposal(x, z + reward * inner, str(solution.status))
