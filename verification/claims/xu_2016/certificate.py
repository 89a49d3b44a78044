"""A certificate for (4) that does not change when alpha is scaled."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from verification.claims import Claim, Trial
from verification.claims._rational import Matrix, Vector, dot, scale
from verification.claims._svm import (
    ZERO,
    Labels,
    apply,
    augmented,
    combination,
    combine,
    draw_balanced,
    draw_plus,
    gram,
    identity,
    inverse,
    margins,
    multiply,
    primal_squared,
    solve_squared,
    transpose,
)
from verification.claims.xu_2016.proposition_1 import hessian


def _draw_gap(rng: np.random.Generator) -> dict[str, Any]:
    given = draw_plus(rng)
    alpha = draw_balanced(rng, given["y"])
    if rng.random() < 0.3:
        solved = solve_squared(**given)
        alpha = scale(Fraction(int(rng.integers(1, 5)), 2), solved.alpha)
    return {**given, "alpha": alpha}


def _check_gap(
    trial: Trial,
    *,
    x: Matrix,
    y: Labels,
    z: Matrix,
    c: Fraction,
    lam: Fraction,
    alpha: Vector,
    gap: Callable[[Fraction, Fraction, Fraction], Fraction],
    middle: bool,
) -> None:
    zt = augmented(z)
    h = hessian(gram(x), y, z, c, lam)
    g = apply(h, alpha)
    total, q = sum(alpha, ZERO), dot(alpha, g)
    least = {s: min(v for v, t in zip(g, y, strict=True) if t == s) for s in (1, -1)}
    m = (least[1] + least[-1]) / 2 if middle else min(least.values())
    if m <= 0:
        trial.nothing_claimed()
        return
    w = scale(1 / m, combination([a * t for a, t in zip(alpha, y, strict=True)], x))
    b = (least[-1] - least[1]) / (2 * m)
    normal = combine(lam, identity(len(zt[0])), c, multiply(transpose(zt), zt))
    vt = scale(1 / m, apply(inverse(normal), combination(alpha, zt)))
    xi = apply(zt, vt)
    trial.exactly(
        all(u + t >= 1 for u, t in zip(margins(x, y, w, b), xi, strict=True)),
        "the primal point is infeasible",
        xi=xi,
    )
    primal = primal_squared(w, vt, xi, c, lam)
    t = total / q
    dual = t * total - t * t * q / 2
    trial.exactly(
        gap(total, m, q) == 1 - dual / primal,
        "the relative gap is another",
        primal=primal,
        dual=dual,
        said=gap(total, m, q),
    )
    trial.exactly(gap(total, m, q) >= 0, "a negative gap", gap=gap(total, m, q))
    solved = solve_squared(x, y, z, c, lam)
    if dual == solved.value:
        trial.exactly(gap(total, m, q) == 0, "a gap at the solution", gap=gap(total, m, q))


GAP = Claim(
    number="Algorithm 1, certificate",
    section="3",
    statement="for feasible alpha, g = H alpha, S = 1'alpha, q = alpha'g and m = half the sum of "
    "the least g of both classes, m > 0: (w, v~)/m is feasible with the middle b, S/q scales the "
    "dual best, and the relative gap is 1 - (S m/q)^2",
    method="primal and dual value at random points and at multiples of solutions, rational",
    expected="repaired",
    draw=_draw_gap,
    check=_check_gap,
    says={"gap": lambda s, m, q: 1 - (s * m / q) ** 2, "middle": True},
    wrong={
        "1 - S m/q": {"gap": lambda s, m, q: 1 - s * m / q},
        "m = least g of all": {"middle": False},
    },
    instances=80,
    note="Ours. It does not change when alpha is scaled, and is 0 exactly on the rays through "
    "solutions.",
)
