"""Certificate files of cone programs: a point, multipliers, and what they prove.

With z in the dual cone, s = b - Ax, r = Px + q + A'z and P - diag(d) positive semidefinite, for every
feasible y whose entries are in the ranges [lo, hi]

    f(x) - f(y) <= <z, s> + sum_i max over y_i of r_i (x_i - y_i) - d_i/2 (x_i - y_i)^2.

A row of one entry is a range; where an entry has neither a range nor a curvature, one is assumed and
written down. With f = 0 and x = 0 a bound below 0 says that no y is feasible.
"""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve._types import Array
from refsolve.certificate_files.file import written
from refsolve.cones.dyadic import Dyadic, product
from refsolve.cones.membership import into_dual, violation
from refsolve.cones.power import Power
from refsolve.cones.program import ConeProgram
from refsolve.cones.semidefinite import Semidefinite
from refsolve.errors import InvalidParameterError

EPS = float(np.finfo(float).eps)
#: An entry without a range is assumed to be within this many times 1 + |x| of x.
REACH = 1e3


@dataclass(frozen=True)
class Proof:
    """A claim about a cone program, and what proves it.

    Attributes
    ----------
    claim : {"optimal", "infeasible", "unbounded"}
    bound : float
        Optimal: f(x) - f(y) is at most that for every feasible y in the ranges; infeasible: below 0;
        unbounded: the slope of f along the ray.
    violation : float
        How far x is from feasible.
    solution : dict of arrays
    lo, hi : (n,) arrays
        Ranges that are assumed.
    """

    claim: str
    bound: float
    violation: float
    solution: dict[str, Array]
    lo: Array
    hi: Array

    @property
    def assumed(self) -> int:
        """Number of entries whose range is taken for granted."""
        return int(np.sum(np.isfinite(self.lo) | np.isfinite(self.hi)))

    def save(
        self, path: str | PathLike[str], program: ConeProgram, assumptions: tuple[str, ...]
    ) -> None:
        """Write it.

        Raises
        ------
        InvalidParameterError
            Cones that the format does not hold, or not in this order.
        """
        data: dict[str, Any] = {
            "q": program.q,
            "P": sp.csr_array(program.P),
            "A": sp.csr_array(program.A),
            "b": program.b,
        }
        if program.soc:
            data["soc"] = np.array(program.soc)
        data |= other_cones(program)
        if self.assumed:
            data |= {"lo": self.lo, "hi": self.hi}
            assumptions += (f"{self.assumed} entries are in the ranges lo, hi",)
        text = f"cone zero={program.zero} nonneg={program.nonneg} exp={program.exp}"
        said: dict[str, Any] = {
            "claim": self.claim,
            "bound": self.bound,
            "violation": self.violation,
        }
        plain = (a.encode("ascii", "replace").decode() for a in assumptions)
        said["assumptions"] = [a.replace('"', "'").replace("\\", "/") for a in plain]
        written(path, text, data, self.solution, **said)


def other_cones(program: ConeProgram) -> dict[str, Array]:
    """Orders of semidefinite cones; sizes of power cones, and their weights but for the last of each."""
    matrices = [block.order for block in program.other if isinstance(block, Semidefinite)]
    powers = [block.given for block in program.other if isinstance(block, Power)]
    kinds = [Semidefinite] * len(matrices) + [Power] * len(powers)
    if [type(block) for block in program.other] != kinds:
        raise InvalidParameterError(
            "program.other", [type(block).__name__ for block in program.other],
            "semidefinite cones, then power cones", "sort the rows",
        )  # fmt: skip
    data = {}
    if matrices:
        data["psd"] = np.array(matrices)
    if powers:
        data["power"] = np.array([len(given) + 1 for given in powers])
        data["weights"] = np.concatenate([np.array(given[:-1]) for given in powers])
    return data


def outside(program: ConeProgram, x: Array) -> float:
    """At least how far x is from feasible, for whoever computes with floats."""
    A = _csr(program.A)
    s = Dyadic.of(program.b) - product(A, Dyadic.of(x))
    rough = abs(A) @ np.abs(x) + np.abs(program.b)
    width = [float(rough.max(initial=0.0))]
    width += [len(rough[rows]) * float(rough[rows].sum()) for rows in program.second_order]
    for start in program.exponential.tolist():  # slopes of y exp(x/y)
        if s.numbers[start + 1]:
            slope = 1 + abs(float(s.fraction(start) / s.fraction(start + 1)))
            width.append(slope**2 * float(rough[start : start + 3].sum()))
    for block, rows in program.more:
        largest = float(rough[rows].max(initial=0.0))
        if isinstance(block, Semidefinite):  # what hides in row sums and in a factorisation
            width.append(block.order * (block.order + 16) / 16 * largest)
        else:
            logs = np.abs(np.log(np.maximum(np.abs(s[rows].above()), 1e-300)))
            width.append(block.size**2 * (1 + float(logs.max())) * largest)
    size = 16 * (np.diff(A.indptr).max(initial=0) + 16) * EPS
    far = float(violation(program, s).max(initial=0.0))
    return far * (1 + 1e-12) + size * max(width) + 1e-280


def proof(
    program: ConeProgram,
    x: Array | None,
    z: Array,
    curvature: Array | None,
    known: tuple[Array, Array],
) -> Proof | None:
    """What a point (None: infeasibility) and multipliers prove; ``known`` ranges are used where needed."""
    z, none = _inside(program, z), x is None
    if not np.all(np.isfinite(z)) or (curvature is None and not none):
        return None
    n, A, P = len(program.q), _csr(program.A), _csr(program.P)
    x = np.zeros(n) if x is None else x
    d = np.zeros(n) if none or curvature is None else _less(P, curvature)
    s, slope = program.b - A @ x, A.T @ z
    wide = (
        16
        * (np.diff(A.indptr).max(initial=0) + 16)
        * EPS
        * (abs(A) @ np.abs(x) + np.abs(program.b))
    )
    rough = abs(A.T) @ np.abs(z)
    if not none:
        slope, rough = slope + program.q + P @ x, rough + np.abs(program.q) + abs(P) @ np.abs(x)
    terms = np.diff(sp.csc_array(program.A).indptr) + np.diff(P.indptr)
    off = 16 * (terms + 16) * EPS * rough
    gap = float(np.sum(np.abs(z) * (np.where(z > 0, s, -s) + wide)))
    low, high = _rows(program)
    needed = (np.abs(slope) + off > 0) & (d <= 0)
    assumed = []
    for own, given, sign in ((low, known[0], -1), (high, known[1], 1)):
        side = needed & ~np.isfinite(own) & ((d < 0) | (sign * slope < off))
        reach = np.where(np.isfinite(given), given, x + sign * REACH * (1 + np.abs(x)))
        assumed.append(np.where(side, reach, sign * np.inf))
    lo, hi = assumed
    low, high = np.maximum(low, lo), np.minimum(high, hi)
    with np.errstate(invalid="ignore", over="ignore"):
        cost = np.maximum(_part(slope + off, x - low), _part(off - slope, high - x))
        far = np.maximum(high - x, x - low)
        cost = np.where(d < 0, cost - d / 2 * far**2, cost)
        curved = (np.abs(slope) + off) ** 2 / np.where(d > 0, 2 * d, 1.0)
    gap += float(np.sum(np.where(d > 0, np.minimum(cost, curved), cost)))
    sizes = float(np.abs(z) @ (np.abs(s) + wide)) + float(
        np.sum(np.where(np.isfinite(cost), cost, 0))
    )
    bound = gap + 1e-9 * abs(gap) * (not none) + 64 * (n + len(z)) * EPS * sizes + 1e-280
    if not np.isfinite(bound) or (none and bound >= 0):
        return None
    solution = {"z": z} if none else {"x": x, "z": z, "curvature": d}
    return Proof(
        "infeasible" if none else "optimal",
        bound,
        0.0 if none else outside(program, x),
        solution,
        lo,
        hi,
    )


def _less(P: Any, curvature: Array) -> Array:
    """Curvature by so much below P that a Cholesky factorisation in floats succeeds."""
    diagonal = P.diagonal()
    off = P - sp.diags_array(diagonal)
    coupled = abs(off).sum(axis=0) > 0
    size = int(np.sum(coupled))
    lack = 4 * (size * (size + 4) + 8) * EPS * (np.abs(diagonal) + np.abs(curvature))
    return np.where(coupled, curvature - lack, curvature)


def _csr(matrix: Any) -> Any:
    return sp.csr_array(matrix)


def _part(slope: Array, far: Array) -> Array:
    return np.where(slope > 0, slope * np.maximum(far, 0), 0.0)


def _rows(program: ConeProgram) -> tuple[Array, Array]:
    """Ranges from rows of one entry."""
    A, n = program.rows, len(program.q)
    low, high = np.full(n, -np.inf), np.full(n, np.inf)
    for i in np.flatnonzero(np.diff(A.indptr)[: program.zero + program.nonneg] == 1).tolist():
        j, a = int(A.indices[A.indptr[i]]), float(A.data[A.indptr[i]])
        end = float(program.b[i]) / a
        if a > 0 or i < program.zero:
            high[j] = min(high[j], np.nextafter(end, np.inf))
        if a < 0 or i < program.zero:
            low[j] = max(low[j], np.nextafter(end, -np.inf))
    return low, high


def _inside(program: ConeProgram, z: Array) -> Array:
    """Multipliers in the dual cone by so much that whoever computes with floats can tell."""
    inside = into_dual(program, z)
    for rows in program.second_order:
        inside[rows.start] *= 1 + 8 * (rows.stop - rows.start + 8) * EPS
    for start in program.exponential.tolist():
        u, v, _ = inside[start : start + 3].tolist()
        exponent = 0.0 if u == 0 else abs(v / u) + 2
        inside[start + 2] *= 1 + 64 * (1 + exponent) * EPS
    for block, rows in program.more:
        if isinstance(block, Semidefinite):
            inside[rows] = _further_matrix(block, inside[rows])
        elif isinstance(block, Power):
            inside[rows] = _further_power(block, inside[rows])
    return inside


def _further_matrix(cone: Semidefinite, z: Array) -> Array:
    """With a larger diagonal, unless a factorisation in floats succeeds as it is."""
    Z, n = cone.matrix(z, dual=True), cone.order
    coupled = np.any(Z - np.diag(np.diag(Z)), axis=0)
    hidden = 4 * n * (n + 8) * EPS
    inner = (Z - np.diag(hidden * np.diag(Z)))[np.ix_(coupled, coupled)]
    try:
        np.linalg.cholesky(inner)
    except np.linalg.LinAlgError:
        z = z.copy()
        z[cone.diagonal] *= np.where(coupled, 1 + 2 * hidden, 1.0)
    return z


def _further_power(cone: Power, z: Array) -> Array:
    """With a smaller last entry, unless logarithms in floats decide as it is."""
    u, v = z[:-1] / np.array([float(a) for a in cone.weights]), abs(float(z[-1]))
    z = z.copy()
    if v > 0 and not float(u.min()) > 1e-280:
        z[-1] = 0.0
    elif v > float(u.min()):
        logs = np.log(u)
        hidden = 64 * EPS * (len(u) + float(np.abs(logs).sum()) + abs(np.log(v)))
        if np.array([float(a) for a in cone.weights]) @ logs < np.log(v) + hidden:
            z[-1] *= 1 - 2 * hidden
    return z
