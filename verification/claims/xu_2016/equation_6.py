"""Equations (6) and (7): the slacks eliminated, rho as one more coordinate of v."""

from __future__ import annotations

from fractions import Fraction

from verification.claims import Claim, Inputs, Rng, Trial
from verification.claims._rational import Vector, dot, draw_vector, square
from verification.claims._svm import Plus, draw_plus, margins, of_plus


def _draw(rng: Rng) -> Inputs:
    given = draw_plus(rng, most=5)
    return {
        **given,
        "w": draw_vector(rng, len(given["x"][0]), 2, 2),
        "b": draw_vector(rng, 1, 2, 2)[0],
        "v": draw_vector(rng, len(given["z"][0]), 2, 2),
        "rho": draw_vector(rng, 1, 2, 2)[0],
    }


@of_plus
def _check(
    trial: Trial,
    p: Plus,
    *,
    w: Vector,
    b: Fraction,
    v: Vector,
    rho: Fraction,
    last: int,
    ridge: int,
) -> None:
    xi = [dot(v, row) + rho for row in p.z]
    three = square(w) / 2 + p.c / 2 * square(xi) + p.lam / 2 * (square(v) + rho**2)
    zt, vt = [[*row, Fraction(last)] for row in p.z], [*v, rho]
    g = [dot(row, vt) for row in zt]
    seven = square(w) / 2 + p.c / 2 * square(g) + p.lam / 2 * (square(v) + ridge * rho**2)
    trial.exactly(three == seven, "another objective", three=three, seven=seven)
    m = margins(p.x, p.y, w, b)
    inside = [all(t >= 1 - u for t, u in zip(m, slacks, strict=True)) for slacks in (xi, g)]
    trial.exactly(inside[0] == inside[1], "another feasible set", slacks=xi, found=g)


SAME = Claim(
    number="Equations (6) and (7)",
    section="3",
    statement="with xi_i = z_i'v + rho put into (3), and v~ = [v; rho], z~ = [z; 1], objective and "
    "feasible set are those of (3)",
    method="random points, rational",
    draw=_draw,
    check=_check,
    says={"last": 1, "ridge": 1},
    wrong={"z~ = [z; 0]": {"last": 0}, "rho not penalised": {"ridge": 0}},
    instances=80,
)
