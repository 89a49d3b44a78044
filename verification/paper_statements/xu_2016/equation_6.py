"""Equations (6) and (7): the slacks eliminated, rho as one more coordinate of v."""

from fractions import Fraction

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import draw_vector
from verification.paper_statements._svm import Plus, Vector, draw_plus, of_plus
from verification.paper_statements.xu_2016 import stated


def _draw(rng: Rng) -> Inputs:
    given = draw_plus(rng, most=5)
    return {
        **given,
        "w": np.array(draw_vector(rng, len(given["x"][0]), 2, 2)),
        "b": draw_vector(rng, 1, 2, 2)[0],
        "v": np.array(draw_vector(rng, len(given["z"][0]), 2, 2)),
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
    xi = p.z @ v + rho
    three = (w @ w + p.c * (xi @ xi) + p.lam * (v @ v + rho**2)) / 2
    g = p.z @ v + last * rho
    seven = (w @ w + p.c * (g @ g) + p.lam * (v @ v + ridge * rho**2)) / 2
    trial.exactly(three == seven, "another objective", three=three, seven=seven)
    same = p.feasible(w, b, xi) == p.feasible(w, b, g)
    trial.exactly(same, "another feasible set", slacks=xi, found=g)


SAME = stated(
    "Equations (6) and (7)",
    draw=_draw,
    check=_check,
    says={"last": 1, "ridge": 1},
    wrong={"z~ = [z; 0]": {"last": 0}, "rho not penalised": {"ridge": 0}},
)
