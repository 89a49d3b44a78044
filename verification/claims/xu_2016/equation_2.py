"""Problem (1), SVM+ with the hinge loss, and its dual (2): constraints, kernels, variables."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

from verification.claims import Claim, Inputs, Rng, Trial
from verification.claims._rational import Matrix, Vector, dot, draw_vector, scale, square
from verification.claims._svm import (
    ONE,
    ZERO,
    Labels,
    Plus,
    Point,
    apply,
    blocks,
    combination,
    combine,
    draw_plus,
    gram,
    margins,
    minimum,
    of_plus,
    quadratic,
)


def dual_of_hinge(
    ky: Matrix, kz: Matrix, y: Labels, c: Fraction, lam: Fraction, rows: Sequence[int], both: bool
) -> tuple[Fraction, Vector, dict[int, Fraction]] | None:
    """Maximum of (2), gamma = a + b - C, multipliers of the equations kept; None if unbounded.

    `rows` names the equations that are kept: 0 is a'y = 0 and 1 is sum(a + b - C) = 0. Without
    `both`, b = 0: the dual of (1) without xi >= 0.
    """
    n = len(y)
    part = [scale(1 / lam, row) for row in kz]
    linear = [c * sum(row) for row in part]
    h, p = combine(1, ky, 1, part), [1 + v for v in linear]
    e = [[Fraction(v) for v in y], [ONE] * n]
    if both:
        h, p = blocks(h, part, part), p + linear
        e = [[*e[0], *[ZERO] * n], [ONE] * (2 * n)]
    r = [ZERO, n * c]
    point: Point | None = minimum(h, p, [e[k] for k in rows], [r[k] for k in rows])
    if point is None:
        return None
    alpha = point.a[:n]
    gamma = [a + b - c for a, b in zip(alpha, point.a[n:] or [ZERO] * n, strict=True)]
    value = sum(alpha) - quadratic(ky, alpha) / 2 - quadratic(kz, gamma) / (2 * lam)
    return value, alpha + gamma, dict(zip(rows, point.mult, strict=True))


def model_of(
    parts: Vector, x: Matrix, y: Labels, z: Matrix, lam: Fraction
) -> tuple[Vector, Vector]:
    """W = X'(a.y) and v = Z'gamma/lam from the parts [a; gamma]."""
    n = len(y)
    w = combination([a * t for a, t in zip(parts[:n], y, strict=True)], x)
    return w, scale(1 / lam, combination(parts[n:], z))


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
    found = dual_of_hinge(p.ky, gram(p.z), p.y, p.c, p.lam / divisor, rows, both)
    trial.exactly(found is not None, "the dual has no solution although the primal has one")
    if found is None:
        return
    dual, both_parts, mult = found
    w, v = model_of(both_parts, p.x, p.y, p.z, p.lam)
    b, rho = mult.get(0, ZERO), mult.get(1, ZERO)
    xi = [t + rho for t in apply(p.z, v)]
    feasible = p.feasible(w, b, xi)
    if nonneg:
        feasible = feasible and min(xi) >= 0
    trial.exactly(feasible, "the primal point of the largest dual value is infeasible", xi=xi)
    primal = square(w) / 2 + p.c * sum(xi) + p.lam * square(v) / 2
    trial.exactly(primal == dual, "primal and dual value differ", primal=primal, dual=dual)
    step_b = Fraction(1, 64)
    others = [*others, (w, b + step_b, v), (w, b - step_b, v)]
    if tuple(rows) != (0, 1):  # what both equations give; nothing new where they are kept
        whole = dual_of_hinge(p.ky, gram(p.z), p.y, p.c, p.lam, (0, 1), nonneg)
        if whole is not None:
            w_, v_ = model_of(whole[1], p.x, p.y, p.z, p.lam)
            others.append((w_, whole[2][0], v_))
    for w_, b_, v_ in others:
        # Towards every feasible point the objective must not fall: optimal, whatever (2) says.
        free = apply(p.z, v_)
        least = [1 - m - t for m, t in zip(margins(p.x, p.y, w_, b_), free, strict=True)]
        rho_ = max(least + [-t for t in free] if nonneg else least)
        step = dot(w, [p - q for p, q in zip(w_, w, strict=True)])
        step += p.c * sum(t + rho_ - u for t, u in zip(free, xi, strict=True))
        step += p.lam * dot(v, [p - q for p, q in zip(v_, v, strict=True)])
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


DUALITY = Claim(
    number="Equations (1) and (2)",
    section="2",
    statement="(2) is the dual of (1): equal values, w = X'(a.y), v = Z'(a+b-C)/lam, with b and "
    "rho the multipliers of its two equality constraints",
    method="(2) solved in rational arithmetic; the primal point from it is feasible, of equal "
    "value, and (1) does not fall from it towards other feasible points",
    draw=_draw_duality,
    check=_check_duality,
    says={"rows": (0, 1), "divisor": 1, "nonneg": True, "both": True},
    wrong={
        "without sum(a+b-C) = 0": {"rows": (0,)},
        "without a'y = 0": {"rows": (1,)},
        "1/lam for 1/(2 lam)": {"divisor": 2},
        "b = 0": {"both": False},
    },
    instances=60,
    note="An SVM's dual has one equality constraint. rho is free here; (3) penalises it.",
)

VARIABLES = DUALITY.also(
    number="Equation (2) with b = 0",
    section="3",
    statement="(1) without xi >= 0 has the dual (2) with b = 0: n variables with the hinge loss "
    "too; what saves n variables is the dropped constraint, not the square",
    method="as (1) and (2)",
    expected="repaired",
    says={"nonneg": False, "both": False},
    wrong={
        "xi >= 0 kept": {"nonneg": True},
        "without sum(a-C) = 0": {"rows": (0,)},
        "without a'y = 0": {"rows": (1,)},
    },
    note="Our statement of what the text ascribes to the squared loss.",
)


@of_plus
def _check_constant(trial: Trial, p: Plus, *, rows: Sequence[int]) -> None:
    ones = [[ONE] * len(p.y)] * len(p.y)
    ky, kz = p.ky, gram(p.z)
    plain = dual_of_hinge(ky, kz, p.y, p.c, p.lam, rows, both=True)
    moved = dual_of_hinge(ky, combine(1, kz, 3, ones), p.y, p.c, p.lam, rows, both=True)
    values = [None if found is None else found[0] for found in (plain, moved)]
    trial.exactly(values[0] == values[1], "the constant changes the optimum", optima=values)
    if plain is not None:
        gamma = plain[1][len(p.y) :]
        trial.exactly(dot(gamma, [ONE] * len(p.y)) == 0, "sum(a+b-C) is not 0", gamma=gamma)


ANY_KERNEL = Claim(
    number="Equation (2), any kernel",
    section="2",
    statement="any correcting kernel can be used in (2), with or without a constant: a constant "
    "added to it changes nothing",
    method="(2) solved with K~ and with K~ + 3, rational",
    draw=draw_small,
    check=_check_constant,
    says={"rows": (0, 1)},
    wrong={"without sum(a+b-C) = 0": {"rows": (0,)}},
    instances=40,
    note="Otherwise in (5), where the constant is the penalised rho.",
)
