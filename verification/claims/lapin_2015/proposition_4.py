"""Proposition 4: maximising the dual over one column is a biased projection."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np

from refsolve import exact
from verification.claims import Claim, Trial
from verification.claims._erm import (
    Problem,
    block,
    column,
    draw_block,
    draw_problem,
    dual,
    scores,
    weights,
)
from verification.claims._rational import Matrix, Vector, add, dot, draw_vector, scale, square, without
from verification.claims._topk import ONE, ZERO, alpha_halfspaces, hinge_alpha, inside, linear_on

Target = Callable[[Vector, int, Fraction], Vector]


def hinge_conjugate(v: Vector, k: int) -> Fraction | None:
    """-<1,v> on the top-k simplex (Proposition 2 on the other classes); None for +infinity."""
    return linear_on(alpha_halfspaces)(v, [ONE] * len(v), k)


def draw_update(rng: np.random.Generator) -> dict[str, Any]:
    """A problem with a dual point, an example i with x_i != 0, and two candidate blocks for it."""
    problem = draw_problem(rng)
    i = int(rng.integers(problem.n))
    if square(problem.examples[i]) == 0:
        examples = list(problem.examples)
        examples[i] = [v + 1 for v in examples[i]]
        problem = replace(problem, examples=examples)
    d = problem.m - 1

    def point() -> Vector:
        return draw_block(rng, d, problem.k, problem.radius)

    stray = point() if rng.random() < 0.5 else draw_vector(rng, d, spread=1)
    return {
        "problem": problem,
        "columns": [column(point(), y) for y in problem.labels],
        "i": i,
        "x": point(),
        "other": stray,
    }


def target(q: Vector, y: int, k_ii: Fraction) -> Vector:
    """b = (q without y + (1 - q_y) 1)/<x_i,x_i>."""
    return [(v + 1 - q[y]) / k_ii for v in without(q, y)]


def partial_scores(problem: Problem, columns: Matrix, i: int) -> tuple[Vector, Fraction]:
    """q = W'x_i - <x_i,x_i> a_i and <x_i,x_i>."""
    x, k_ii = problem.examples[i], square(problem.examples[i])
    own = scale(-k_ii, columns[i])
    return add(scores(weights(problem, columns), x), own), k_ii


def with_block(columns: Matrix, i: int, x: Vector, y: int) -> Matrix:
    """The dual point with the block x in column i."""
    return [column(x, y) if j == i else a for j, a in enumerate(columns)]


def _objective(x: Vector, b: Vector, rho: Fraction) -> Fraction:
    return square(add(x, scale(-1, b))) + rho * sum(x) ** 2


def _check(
    trial: Trial,
    *,
    problem: Problem,
    columns: Matrix,
    i: int,
    x: Vector,
    other: Vector,
    target: Target,
    rho: Fraction,
    radius: Callable[[Problem], Fraction],
) -> None:
    y, d = problem.labels[i], problem.m - 1
    q, k_ii = partial_scores(problem, columns, i)
    b = target(q, y, k_ii)

    def value(candidate: Vector) -> Fraction | None:
        return dual(problem, with_block(columns, i, candidate, y), hinge_conjugate)

    halfspaces = alpha_halfspaces(d, problem.k, radius(problem))
    at_x, at_other = value(x), value(other)
    trial.exactly(
        (at_other is not None) == inside(other, halfspaces),
        "D is finite exactly on the stated set: not so",
    )
    if at_x is not None and at_other is not None:
        difference = _objective(x, b, rho) - _objective(other, b, rho)
        trial.exactly(
            at_x - at_other == -problem.lam * k_ii / 2 * difference,
            "dual and projection objective do not differ by a negative factor and a constant",
            dual_difference=at_x - at_other,
            objective_difference=difference,
        )
    best = list(
        exact.project("topk_simplex_alpha", b, k=problem.k, r=radius(problem), rho=rho).x
    )
    at_best = value(best)
    trial.exactly(
        at_best is not None and all(at_best >= v for v in (at_x, at_other) if v is not None),
        "another block has a larger dual value than the projection",
        best=best,
    )


SAYS = {"target": target, "rho": ONE, "radius": lambda problem: problem.radius}

PROPOSITION_4 = Claim(
    number="Proposition 4",
    section="3.2.1",
    statement="max D over a_i with <1,a_i> = 0 is min ||x-b||^2 + <1,x>^2 over the top-k simplex "
    "of radius 1/(lam n), b = (q + (1-q_y)1)/<x_i,x_i> over the others, a_i = -x there",
    method="rational: same set of finite values, D = constant - lam <x_i,x_i>/2 objective, and "
    "exact projections (gap 0) beat every candidate",
    expected="verified",
    draw=draw_update,
    check=_check,
    says=SAYS,
    wrong={
        "rho = 0": {"rho": ZERO},
        "rho = 2": {"rho": 2 * ONE},
        "radius 1/n": {"radius": lambda problem: Fraction(1, problem.n)},
        "b without q_y": {"target": lambda q, y, k_ii: [(v + 1) / k_ii for v in without(q, y)]},
        "b without costs": {"target": lambda q, y, k_ii: [(v - q[y]) / k_ii for v in without(q, y)]},
    },
    instances=200,
    note="D is the function printed in Theorem 1; that it is not the dual of the printed loss is "
    "the failure of Proposition 3. b is undefined for x_i = 0, see the next row.",
)


# ------------------------------------------------------------------------------------- zero examples


def fill(c: Vector, k: int, radius: Fraction) -> Vector:
    """Mass radius/k on the k largest costs."""
    order = sorted(range(len(c)), key=lambda j: (-c[j], j))[:k]
    return [radius / k if j in order else ZERO for j in range(len(c))]


def _draw_zero(rng: np.random.Generator) -> dict[str, Any]:
    given = draw_update(rng)
    problem, i = given["problem"], given["i"]
    examples = [[ZERO] * len(x) if j == i else x for j, x in enumerate(problem.examples)]
    return {
        "problem": replace(problem, examples=examples),
        "columns": given["columns"],
        "i": i,
        "x": given["x"],
        "c": [abs(v) for v in draw_vector(rng, problem.m - 1, spread=2)],
    }


def _check_zero(
    trial: Trial,
    *,
    problem: Problem,
    columns: Matrix,
    i: int,
    x: Vector,
    c: Vector,
    fill: Callable[[Vector, int, Fraction], Vector],
) -> None:
    y = problem.labels[i]

    def conjugate(v: Vector, k: int) -> Fraction | None:
        return linear_on(alpha_halfspaces)(v, c, k)

    def value(candidate: Vector) -> Fraction | None:
        return dual(problem, with_block(columns, i, candidate, y), conjugate)

    best, at_x, at_zero = fill(c, problem.k, problem.radius), value(x), value([ZERO] * len(c))
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


ZERO_EXAMPLE = Claim(
    number="Proposition 4, x_i = 0",
    section="3.2.1",
    statement="for x_i = 0, where b divides by 0, mass r/k on the k largest costs maximises D",
    method="rational: the gain is the maximum r S_k(c)/k of <c,x> over the set; costs c >= 0",
    expected="repaired",
    draw=_draw_zero,
    check=_check_zero,
    says={"fill": fill},
    wrong={
        "no update": {"fill": lambda c, k, radius: [ZERO] * len(c)},
        "smallest costs": {"fill": lambda c, k, radius: fill([-v for v in c], k, radius)},
        "half of the radius": {"fill": lambda c, k, radius: fill(c, k, radius / 2)},
    },
    instances=200,
)
