"""Cone programs whose optimum is known exactly, and an attack on what is claimed of them.

All numbers are small integers times powers of two. A point x, slacks s in the cones and multipliers z
in the duals with <z, s> = 0 are drawn first; b = Ax + s and q = -Px - A'z make them optimal. No claim
about such a program may contradict its optimum, whatever point or multipliers it was made from.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

from refsolve.cones.curvature import curvature
from refsolve.cones.dyadic import up
from refsolve.cones.lower import lower_bound
from refsolve.cones.membership import outside
from refsolve.cones.program import ConeProgram
from refsolve.cones.ranges import Ranges
from refsolve.cones.rays import ray
from refsolve.cones.upper import Completion

Array = np.ndarray[Any, Any]

KINDS = ("lp", "qp", "socp", "exp", "mixed", "degenerate", "scaled", "boxed")
#: Pythagorean heads and tails: ||v|| = t in integers.
_TRIPLES = {3: ((5, 3, 4), (13, 5, 12), (17, 15, 8)), 4: ((3, 1, 2, 2), (7, 2, 3, 6))}
#: On the edge of the exponential cone in integers, and the edge of the dual that belongs to it.
_EXP_EDGE, _EXP_DUAL = (0.0, 1.0, 1.0), (-1.0, -1.0, 1.0)


@dataclass(frozen=True)
class Planted:
    """A program with an optimal pair.

    Attributes
    ----------
    program : ConeProgram
    x, z : (n,) and (m,) arrays
        Optimal.
    optimum : Fraction
    unit : (n,) array
        Size of a step of each variable.
    """

    program: ConeProgram
    x: Array
    z: Array
    optimum: Fraction
    unit: Array


def planted(rng: np.random.Generator, kind: str, n: int = 6) -> Planted:
    """Draw a program of one of the `KINDS`."""
    zero = int(rng.integers(0, 3))
    nonneg = int(rng.integers(n, 2 * n))
    cones = 0 if kind in ("lp", "qp") else int(rng.integers(1, 4))
    soc = tuple(int(rng.choice((3, 4))) for _ in range(cones if kind != "exp" else 0))
    exp = cones if kind in ("exp", "mixed", "degenerate", "scaled") else 0
    m = zero + nonneg + sum(soc) + 3 * exp
    x = rng.integers(-4, 5, n).astype(float)
    s, z = _complementary(rng, zero, nonneg, soc, exp, degenerate=kind == "degenerate")
    A = (rng.integers(-3, 4, (m, n)) * (rng.random((m, n)) < 0.7)).astype(float)
    if kind == "boxed":  # the first rows say l <= x <= u
        box = np.vstack((np.eye(n), -np.eye(n)))[: min(2 * n, nonneg)]
        A[zero : zero + len(box)] = box
    P = np.zeros((n, n))
    if kind in ("qp", "mixed", "scaled"):
        R = rng.integers(-2, 3, (int(rng.integers(1, n + 2)), n)).astype(float)
        P = R.T @ R
    row: Array = np.ones(m)
    column: Array = np.ones(n)
    if kind == "scaled":  # powers of two, one for each cone, so that nothing is rounded
        column = np.exp2(rng.integers(-15, 16, n))
        row = _scales(rng, zero, nonneg, soc, exp)
    A = A * row[:, None] / column
    P = P / column[:, None] / column
    x, s, z = x * column, s * row, z / row
    b, q = A @ x + s, -(P @ x) - A.T @ z
    program = ConeProgram(
        sp.csc_array(P), q, sp.csc_array(A), b, zero=zero, nonneg=nonneg, soc=soc, exp=exp
    )
    xs = [Fraction(v) for v in x.tolist()]
    Px = [Fraction(v) for v in (P @ x).tolist()]
    value = sum(
        (a * (g / 2 + Fraction(c)) for a, g, c in zip(xs, Px, q.tolist(), strict=True)), Fraction()
    )
    return Planted(program, x, z, value, column)


def _complementary(
    rng: np.random.Generator,
    zero: int,
    nonneg: int,
    soc: tuple[int, ...],
    exp: int,
    *,
    degenerate: bool,
) -> tuple[Array, Array]:
    """Slacks and multipliers, never both off the edge; degenerate: both zero now and then."""
    tight = rng.random(nonneg) < 0.6
    s = [np.zeros(zero), np.where(tight, 0, rng.integers(1, 5, nonneg))]
    z = [rng.integers(-3, 4, zero), np.where(tight, rng.integers(1, 5, nonneg), 0)]
    if degenerate:
        z[1] = z[1] * (rng.random(nonneg) < 0.4)
    for size in soc:
        edge = np.array(_TRIPLES[size][int(rng.integers(len(_TRIPLES[size])))], dtype=float)
        which = int(rng.integers(4))
        s.append((edge, edge + np.eye(size)[0], 0 * edge, edge)[which])
        dual = edge * np.array([1] + [-1] * (size - 1)) * int(rng.integers(1, 4))
        z.append((dual, 0 * edge, dual + np.eye(size)[0], 0 * edge if degenerate else dual)[which])
    for _ in range(exp):
        edge, dual = np.array(_EXP_EDGE), np.array(_EXP_DUAL)
        scale, which = int(rng.integers(1, 4)), int(rng.integers(3))
        s.append((edge * scale, edge + np.array((0, 0, 2)), 0 * edge)[which])
        z.append((dual * scale, 0 * dual, dual + np.array((0, 0, 1)))[which])
    return np.concatenate(s).astype(float), np.concatenate(z).astype(float)


def _scales(
    rng: np.random.Generator, zero: int, nonneg: int, soc: tuple[int, ...], exp: int
) -> Array:
    single = np.exp2(rng.integers(-15, 16, zero + nonneg))
    blocks = [np.full(size, np.exp2(rng.integers(-15, 16))) for size in soc + (3,) * exp]
    return np.concatenate([single, *blocks])


def noise(rng: np.random.Generator, values: Array) -> Array:
    """Values disturbed as solvers disturb them: a little everywhere, much somewhere, or replaced."""
    size = 1.0 + np.abs(values).max(initial=0.0)
    how, level = int(rng.integers(4)), 10.0 ** -float(rng.integers(1, 17))
    if how == 0:
        return values + level * size * rng.standard_normal(len(values))
    if how == 1:
        return values * (1 + level * rng.standard_normal(len(values)))
    if how == 2:
        changed = values.copy()
        changed[rng.integers(len(values))] += level * size * rng.choice((-1.0, 1.0))
        return changed
    return size * rng.standard_normal(len(values))


def claims(case: Planted, rng: np.random.Generator) -> Iterator[tuple[str, bool, float]]:
    """Claims from one disturbed pair: (what, whether it is false, how far it is from the optimum)."""
    program, form = case.program, curvature(case.program.P)
    z, w, x = noise(rng, case.z), noise(rng, case.x), noise(rng, case.x)
    ranges = Ranges(program)
    above = Fraction(float(abs(rng.standard_normal()) * 10.0 ** -float(rng.integers(0, 13))))
    level = up(case.optimum + above)  # at least the optimum: the optimal point has to stay
    ranges.narrow(level=level, curvature=form)
    kept = bool(np.all(case.x >= ranges.lo) and np.all(case.x <= ranges.hi)) and not ranges.empty
    yield "ranges", not kept, 0.0
    worth = float(10.0 ** -rng.integers(0, 13))
    lower = lower_bound(program, z, w, ranges.lo, ranges.hi, form, worth)
    if lower.value is not None:
        yield "lower", lower.value > case.optimum, float(case.optimum - lower.value)
        if "exact multipliers" not in lower.by:
            ranges.charge(z, up(Fraction(level) - lower.value))
            kept = bool(np.all(case.x >= ranges.lo) and np.all(case.x <= ranges.hi))
            yield "charges", not kept or ranges.empty, 0.0
    point = Completion(program).enclosed(x)
    if point is not None:
        value = point.objective(program)
        yield "upper", value < case.optimum, float(value - case.optimum)
    if rng.random() < 0.1:  # what a solver proposes, completed; and a ray that cannot be
        whole = Completion(program, rng.random(len(program.q)) < rng.choice((0.0, 0.5)))
        found = whole.completed(case.x, float(10.0 ** -rng.integers(3, 12)))
        if found is not None:
            met = np.arange(len(program.b)) < program.zero * bool(np.any(found.eta))
            # rows of given variables alone are not looked at
            if not outside(program, found.x, found.eta, met & whole.used).any():
                value = found.objective(program)
                yield "completed", value < case.optimum, float(value - case.optimum)
        yield "ray", ray(program) is not None, 0.0
    empty = replace(program, P=sp.csc_array(program.P.shape), q=np.zeros(len(program.q)))
    free = Ranges(program)
    free.narrow()
    nothing = np.zeros(len(program.q))
    farkas = lower_bound(empty, z, nothing, free.lo, free.hi, nothing)
    if farkas.value is not None:
        yield "infeasible", farkas.value > 0 or free.empty, 0.0


def attack(count: int, seed: int) -> dict[str, Any]:
    """Disturb ``count`` certificates and count what was claimed, and what was claimed falsely."""
    rng = np.random.default_rng(seed)
    made: dict[str, int] = {}
    false: dict[str, int] = {}
    tight = 0
    for i in range(count):
        case = planted(rng, KINDS[i % len(KINDS)])
        for what, wrong, far in claims(case, rng):
            made[what] = made.get(what, 0) + 1
            false[what] = false.get(what, 0) + wrong
            tight += what in ("lower", "upper") and far <= 1e-6 * (1 + abs(float(case.optimum)))
    return {
        "certificates": count,
        "seed": seed,
        "claims": made,
        "false": false,
        "within 1e-6": tight,
    }
