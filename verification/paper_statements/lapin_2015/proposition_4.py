"""Proposition 4: maximising the dual over one column is a biased projection."""

from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._erm import Problem, dual
from verification.paper_statements._rational import Array, Vector, draw_vector
from verification.paper_statements._topk import ONE, ZERO, alpha_halfspaces, hinge_alpha, linear_on
from verification.paper_statements._update import (
    check_identity,
    check_numerically,
    differences,
    draw_update,
    with_block,
)
from verification.paper_statements.lapin_2015 import stated


def target(q: Array, y: int, k_ii: Fraction, smoothing: Fraction = ZERO) -> Array:
    """B = (q without y + (1 - q_y) 1)/<x_i,x_i>."""
    return differences(q, y) / k_ii


SAYS = {
    "target": target,
    "bias": lambda k_ii, smoothing: ONE,
    "radius": lambda problem: problem.radius,
}
WRONG: Mapping[str, Mapping[str, Any]] = {
    "rho = 0": {"bias": lambda k_ii, smoothing: ZERO},
    "rho = 2": {"bias": lambda k_ii, smoothing: 2 * ONE},
    "radius 1/n": {"radius": lambda problem: Fraction(1, problem.n)},
    "b without q_y": {"target": lambda q, y, k_ii, smoothing: (np.delete(q, y) + 1) / k_ii},
    "b without costs": {"target": lambda q, y, k_ii, smoothing: (np.delete(q, y) - q[y]) / k_ii},
}


def _draw(rng: Rng) -> Inputs:
    return {**draw_update(rng), "gamma": ZERO}


PROPOSITION_4 = stated("Proposition 4", draw=_draw, check=check_identity, says=SAYS, wrong=WRONG)

NUMERICALLY = stated(
    "Proposition 4, by CVXPY", draw=_draw, check=check_numerically, says=SAYS, wrong=WRONG
)

# ------------------------------------------------------------------------------------- zero examples


def fill(c: Vector, k: int, radius: Fraction) -> Vector:
    """Mass radius/k on the k largest costs."""
    order = sorted(range(len(c)), key=lambda j: (-c[j], j))[:k]
    return [radius / k if j in order else ZERO for j in range(len(c))]


def _draw_zero(rng: Rng) -> Inputs:
    given = draw_update(rng)
    problem, i = given["problem"], given["i"]
    problem.examples[i] = ZERO
    return {
        **{name: given[name] for name in ("columns", "i", "x", "problem")},
        "c": [abs(v) for v in draw_vector(rng, problem.m - 1, spread=2)],
    }


def _check_zero(
    trial: Trial,
    *,
    problem: Problem,
    columns: Array,
    i: int,
    x: Array,
    c: Vector,
    fill: Callable[[Vector, int, Fraction], Vector],
) -> None:
    y = problem.labels[i]

    def conjugate(v: Array, k: int) -> Fraction | None:
        return linear_on(alpha_halfspaces)(list(v), c, k)

    def value(candidate: Array) -> Fraction | None:
        return dual(problem, with_block(columns, i, candidate, y), conjugate)

    best = np.array(fill(c, problem.k, problem.radius))
    at_x, at_zero = value(x), value(0 * x)
    at_best = value(best)
    if at_best is None or at_x is None or at_zero is None:
        trial.exactly(False, "a block outside of the domain", block=best)
        return
    trial.exactly(at_best >= at_x, "another block has a larger dual value", block=best)
    trial.exactly(
        at_best - at_zero == problem.lam * problem.radius * hinge_alpha(c, problem.k),
        "the gain over the empty block is not lam r S_k(c)/k, the maximum of lam <c,x>",
        block=best,
    )


ZERO_EXAMPLE = stated(
    "Proposition 4, x_i = 0",
    draw=_draw_zero,
    check=_check_zero,
    says={"fill": fill},
    wrong={
        "no update": {"fill": lambda c, k, radius: [ZERO] * len(c)},
        "smallest costs": {"fill": lambda c, k, radius: fill([-v for v in c], k, radius)},
        "half of the radius": {"fill": lambda c, k, radius: fill(c, k, radius / 2)},
    },
)
