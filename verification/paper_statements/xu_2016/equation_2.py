"""Problem (1), SVM+ with the hinge loss, and its dual (2): constraints, kernels, variables."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import draw_vector
from verification.paper_statements._svm import (
    ONE,
    ZERO,
    Matrix,
    Plus,
    Vector,
    draw_plus,
    full,
    minimum,
    of_plus,
)
from verification.paper_statements.xu_2016 import stated


@dataclass(frozen=True)
class Hinge:
    """Maximum of (2) with gamma = a + b - C, and the multipliers of the equations kept."""

    value: Fraction
    alpha: Vector
    gamma: Vector
    mult: dict[int, Fraction]


def dual_of_hinge(
    p: Plus, rows: Sequence[int] = (0, 1), both: bool = True, kz: Matrix | None = None
) -> Hinge | None:
    """Maximum of (2); None if unbounded.

    `rows` names the equations that are kept: 0 is a'y = 0 and 1 is sum(a + b - C) = 0. Without
    `both`, b = 0: the dual of (1) without xi >= 0. `kz` takes the place of the linear kernel.
    """
    n = len(p.y)
    kz = p.kz if kz is None else kz
    part = kz / p.lam
    linear = p.c * part.sum(axis=1)
    h, right, e = p.ky + part, 1 + linear, np.stack([p.y, full(ONE, n)])
    if both:
        h, right = np.block([[h, part], [part, part]]), np.concatenate([right, linear])
        e = np.hstack([e, np.stack([full(ZERO, n), full(ONE, n)])])
    kept = list(rows)
    point = minimum(h, right, e[kept], np.array([ZERO, n * p.c])[kept])
    if point is None:
        return None
    alpha = point.a[:n]
    gamma = alpha - p.c + (point.a[n:] if both else 0)
    value = sum(alpha) - alpha @ p.ky @ alpha / 2 - gamma @ kz @ gamma / (2 * p.lam)
    return Hinge(value, alpha, gamma, dict(zip(rows, point.mult, strict=True)))


def model_of(found: Hinge, p: Plus) -> tuple[Vector, Vector]:
    """W = X'(a.y) and v = Z'gamma/lam."""
    return p.w(found.alpha), found.gamma @ p.z / p.lam


@of_plus
def _check_duality(
    trial: Trial,
    p: Plus,
    *,
    others: list[tuple[Vector, Fraction, Vector]],
    rows: Sequence[int],
    divisor: int,
    nonneg: bool,
    both: bool,
) -> None:
    found = dual_of_hinge(replace(p, lam=p.lam / divisor), rows, both)
    trial.exactly(found is not None, "the dual has no solution although the primal has one")
    if found is None:
        return
    w, v = model_of(found, p)
    b, rho = found.mult.get(0, ZERO), found.mult.get(1, ZERO)
    xi = p.z @ v + rho
    feasible = p.feasible(w, b, xi)
    if nonneg:
        feasible = feasible and min(xi) >= 0
    trial.exactly(feasible, "the primal point of the largest dual value is infeasible", xi=xi)
    primal, dual = w @ w / 2 + p.c * sum(xi) + p.lam * (v @ v) / 2, found.value
    trial.exactly(primal == dual, "primal and dual value differ", primal=primal, dual=dual)
    step_b = Fraction(1, 64)
    others = [*others, (w, b + step_b, v), (w, b - step_b, v)]
    if tuple(rows) != (0, 1):  # what both equations give; nothing new where they are kept
        whole = dual_of_hinge(p, both=nonneg)
        if whole is not None:
            w_, v_ = model_of(whole, p)
            others.append((w_, whole.mult[0], v_))
    for w_, b_, v_ in others:
        # Towards every feasible point the objective must not fall: optimal, whatever (2) says.
        free = p.z @ v_
        least = 1 - p.margins(w_, b_) - free
        rho_ = max(*least, *-free) if nonneg else max(least)
        step = w @ (w_ - w) + p.c * sum(free + rho_ - xi) + p.lam * (v @ (v_ - v))
        trial.exactly(step >= 0, "a feasible point has a smaller value", slope=step)


def draw_small(rng: Rng) -> Inputs:
    """Few samples: (2) has twice as many variables."""
    return draw_plus(rng, most=3)


def _draw_duality(rng: Rng) -> Inputs:
    given = draw_small(rng)
    d, s = len(given["x"][0]), len(given["z"][0])
    others = [
        (draw_vector(rng, d, 2, 2), draw_vector(rng, 1, 2, 2)[0], draw_vector(rng, s, 2, 2))
        for _ in range(3)
    ]
    return {**given, "others": others}


DUALITY = stated(
    "Equations (1) and (2)",
    draw=_draw_duality,
    check=_check_duality,
    says={"rows": (0, 1), "divisor": 1, "nonneg": True, "both": True},
    wrong={
        "without sum(a+b-C) = 0": {"rows": (0,)},
        "without a'y = 0": {"rows": (1,)},
        "1/lam for 1/(2 lam)": {"divisor": 2},
        "b = 0": {"both": False},
    },
)

VARIABLES = DUALITY.also(
    "Equation (2) with b = 0",
    says={"nonneg": False, "both": False},
    wrong={
        "xi >= 0 kept": {"nonneg": True},
        "without sum(a-C) = 0": {"rows": (0,)},
        "without a'y = 0": {"rows": (1,)},
    },
)


@of_plus
def _check_constant(trial: Trial, p: Plus, *, rows: Sequence[int]) -> None:
    plain, moved = dual_of_hinge(p, rows), dual_of_hinge(p, rows, kz=p.kz + 3)
    values = [None if found is None else found.value for found in (plain, moved)]
    trial.exactly(values[0] == values[1], "the constant changes the optimum", optima=values)
    if plain is not None:
        trial.exactly(sum(plain.gamma) == 0, "sum(a+b-C) is not 0", gamma=plain.gamma)


ANY_KERNEL = stated(
    "Equation (2), any kernel",
    draw=draw_small,
    check=_check_constant,
    says={"rows": (0, 1)},
    wrong={"without sum(a+b-C) = 0": {"rows": (0,)}},
)
