"""Equation (5) with any kernel: what the constant in K~ is for."""

from dataclasses import replace

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import vector
from verification.paper_statements._svm import ONE, Plus, deformed, draw_plus, of_plus, ray
from verification.paper_statements.xu_2016 import stated


def _draw_kernel(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    return {**given, "power": int(rng.integers(1, 3))}


@of_plus
def _check_kernel(trial: Trial, p: Plus, *, power: int, constant: int) -> None:
    features = replace(p, z=p.z**power)
    h = p.ky + deformed(features.kz + constant, p.c, p.lam)
    point, solved = p.minimum(h), features.solved
    if point is None:
        direction = ray(h, p.y)
        proved = direction is not None and not any(h @ direction)
        trial.exactly(not proved, "(4) falls without bound along a ray", ray=direction)
    else:
        trial.exactly(
            -point.value == solved.value,
            "the optimum is not that of (3) with the kernel's features",
            dual=-point.value,
            primal=solved.value,
        )


ANY_KERNEL = stated(
    "Equation (5), any kernel",
    draw=_draw_kernel,
    check=_check_kernel,
    says={"constant": 0},
    right={"constant": 1},
    witnesses=(
        {
            "x": [vector(0), vector(1), vector(2)],
            "y": (1, -1, 1),
            "z": [vector(0)] * 3,
            "c": ONE,
            "lam": ONE,
            "power": 1,
        },
    ),
)
