"""Points and multipliers proposed by a solver. Nothing here is believed by anything else."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve._lazy import clarabel
from refsolve._types import Array
from refsolve.cones.linear_systems import by_diagonal, envelope
from refsolve.cones.program import ConeProgram

#: By how much, relative to its terms, a polished point is inside rows that bind, so that rounding is not felt.
INSIDE = 1e-14
#: What a polished solution may lack, relatively, and be called that.
POLISHED = 1e-9


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
    scale = np.ones(m)
    for block, rows in program.more:
        cones += block.clarabel()
        scale[rows] = 1.0 if block.scale is None else block.scale
    if program.other:
        A, b = sp.csc_array(A.multiply(scale[:, None])), b * scale
    settings = clarabel.DefaultSettings()
    settings.verbose = False
    settings.tol_gap_abs = settings.tol_gap_rel = settings.tol_feas = tolerance
    settings.max_iter = 200
    P = sp.triu(sp.csc_array(program.P), format="csc")
    solution = clarabel.DefaultSolver(P, q, A, b, cones, settings).solve()
    x, z = np.array(solution.x), np.array(solution.z) * scale
    if not (np.all(np.isfinite(x)) and np.all(np.isfinite(z))):
        return None
    return Proposal(x, z + reward * inner, str(solution.status))


def polished(
    program: ConeProgram, found: Proposal, rounds: int = 40, most: float = 1e8
) -> Proposal | None:
    """A solution of a linear or quadratic program to more digits, from the rows that bind it.

    The rows whose multiplier exceeds their slack are met, but for rounding, by a sparse factorisation with
    refinement; rows whose multiplier is negative are let go, rows that fail are added. Not where the
    factors may have more than ``most`` numbers.
    """
    if program.soc or program.exp or program.other:
        return None
    A, b = program.rows, program.b
    x, z = found.x, found.z
    inequality = np.arange(len(b)) >= program.zero
    active = ~inequality | (z > b - A @ x)
    inner = b - np.where(inequality, INSIDE * (np.abs(b) + abs(A) @ np.abs(x)), 0.0)
    best, least = None, np.inf
    for _ in range(rounds):
        rows = np.flatnonzero(active)
        solved = _equality_solution(program, rows, inner, x, z[rows], most)
        if solved is None:
            break
        x, multipliers = solved
        z = np.zeros(len(b))
        z[rows] = multipliers
        slack = (b - A @ x) / (1 + np.abs(b))
        short = np.where(active, -z / (1 + np.abs(z).max(initial=0.0)), -slack)
        lack = float(short[inequality].max(initial=0.0))
        if lack < least:
            said = "polished" if lack <= POLISHED else "nearly polished"
            best, least = Proposal(x, np.where(inequality, np.maximum(z, 0), z), said), lack
        wrong = inequality & (short > 1e-13)
        if not wrong.any():
            break
        active = active ^ wrong
    return best


def _equality_solution(
    program: ConeProgram, rows: Array, b: Array, x: Array, z: Array, most: float
) -> tuple[Array, Array] | None:
    """Where the objective is stationary with some rows as equations, and their multipliers."""
    A, n = program.rows[rows], len(x)
    K = sp.block_array([[sp.csc_array(program.P), A.T], [A, None]], format="csc")
    if envelope(K) > most:
        return None
    target = np.concatenate((-program.q, b[rows])).astype(np.longdouble)
    long, start = (
        sp.csr_array(K).astype(np.longdouble),
        np.concatenate((x, z)).astype(np.longdouble),
    )
    best, least = None, np.inf
    for shift in (1e-8, 1e-11, 1e-15):
        size = shift * float(np.abs(K.data).max(initial=1.0))
        # quasidefinite
        factor = by_diagonal(K + sp.diags_array(np.repeat((size, -size), (n, len(rows)))))
        if factor is None:
            continue
        y, left = start, np.inf
        with np.errstate(all="ignore"):
            for _ in range(11):
                rest = target - long @ y
                size = float(np.abs(rest).max(initial=0.0))
                if not size < 0.9 * left:
                    break
                left = size
                if left < least:
                    best, least = (y[:n].astype(float), y[n:].astype(float)), left
                y = y + factor.solve(rest.astype(float))
        if least <= 1e-13 * float(np.abs(target).max(initial=1.0)):
            break
    return best


def few_digits(z: Array) -> list[Array]:
    """Multipliers near ``z``: on edges of the cones nothing but few digits is exact."""
    size = np.exp2(np.ceil(np.log2(np.abs(z).max(initial=2.0**-1000))))
    return [np.round(z / size * 2.0**digits) / 2.0**digits * size for digits in (4, 10, 20)]


def indifferent(program: ConeProgram) -> ConeProgram:
    """The constraints alone."""
    n = len(program.q)
    return replace(program, P=sp.csc_array((n, n)), q=np.zeros(n))
