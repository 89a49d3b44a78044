"""Proposition 11: the update of the top-k entropy loss, and the system that solves it."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._erm import Problem, block, draw_block, dual
from verification.paper_statements._logs import Log, binary, log
from verification.paper_statements._rational import Array, Numbers, Vector, draw_vector, square
from verification.paper_statements._topk import ONE, ZERO, alpha_halfspaces, inside, pieces_alpha
from verification.paper_statements._update import (
    differences,
    draw_update,
    partial_scores,
    with_block,
)
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.lapin_2016.proposition_8 import Planted, plant_alpha


def quadratic_dual(problem: Problem, columns: Array) -> Fraction:
    """D without the entropies: -lam/2 tr(A K A')."""
    found = dual(problem, columns, lambda v, k: ZERO)
    if found is None:
        raise ArithmeticError("the columns do not sum to 0")
    return found


def target(q: Array, y: int) -> Array:
    """B = q without y, less q_y."""
    return np.delete(q, y) - q[y]


def curvature(k_ii: Fraction, problem: Problem) -> Fraction:
    """Alpha = <x_i,x_i>/(lam n)."""
    return k_ii * problem.radius


def _check_identity(
    trial: Trial,
    *,
    problem: Problem,
    columns: Array,
    i: int,
    x: Array,
    other: Array,
    target: Callable[[Array, int], Array],
    curvature: Callable[[Fraction, Problem], Fraction],
    factor: Fraction,
    domain: Callable,
) -> None:
    """-n D and (25) differ by a constant: in their rational parts, and in the entropies."""
    y = problem.labels[i]
    q, k_ii = partial_scores(problem, columns, i)
    b, alpha = target(q, y), curvature(k_ii, problem)

    def printed(point: Array) -> Log | None:
        if not inside(point, domain(len(point), problem.k)):
            return None
        rational = alpha * factor * (square(point) + sum(point) ** 2) - b @ point
        return rational + binary(point)

    def value(point: Array) -> Log | None:
        """-n D, from the conjugate of Proposition 7 on the top-k simplex."""
        changed = with_block(columns, i, problem.radius * point, y)
        entropies = Log()
        for a, label in zip(changed, problem.labels, strict=True):
            v = block(a, label) / problem.radius
            if not inside(v, alpha_halfspaces(len(v), problem.k)):
                return None
            entropies = entropies + binary(v)
        return entropies - problem.n * quadratic_dual(problem, changed)

    at = [(printed(point), value(point)) for point in (x, other)]
    for wanted, found in at:
        trial.exactly((wanted is None) == (found is None), "the sets differ")
    (f, d), (f2, d2) = at
    if f is None or d is None or f2 is None or d2 is None:
        return
    trial.exactly(f - f2 == d - d2, "-n D and the objective do not differ by a constant")


def _draw_update(rng: Rng) -> Inputs:
    given = draw_update(rng, zero_examples=True)
    problem: Problem = given["problem"]
    corners = pieces_alpha(problem.m - 1, problem.k)
    kinds = (
        lambda: draw_block(rng, corners, ONE),
        lambda: draw_block(rng, pieces_alpha(problem.m - 1, 1), ONE),  # of the simplex
        lambda: np.array(draw_vector(rng, problem.m - 1, spread=1)),
    )
    other = kinds[int(rng.choice(3, p=[0.6, 0.25, 0.15]))]()
    return {**given, "x": draw_block(rng, corners, ONE), "other": other}


_ENTROPY = "entropies compared as products of rational powers"

PROPOSITION_11 = stated(
    "Proposition 11",
    draw=_draw_update,
    check=_check_identity,
    says={
        "target": target,
        "curvature": curvature,
        "factor": Fraction(1, 2),
        "domain": alpha_halfspaces,
    },
    wrong={
        "alpha without 1/(lam n)": {"curvature": lambda k_ii, problem: k_ii},
        "alpha in place of alpha/2": {"factor": ONE},
        "b with the costs of the hinges": {"target": differences},
        "the simplex for every k": {"domain": lambda d, k: alpha_halfspaces(d, 1)},
    },
)

# ----------------------------------------------------------------------- the system that solves it


def _draw_system(rng: Rng) -> Inputs:
    d = int(rng.integers(1, 5))
    k = int(rng.integers(1, d + 1))
    found: Planted = plant_alpha(rng, d, k)
    corners = pieces_alpha(d, k)
    return {
        "x": found.x,
        "slack": [Fraction(int(rng.integers(0, 3)), 2) * int(i < found.u) for i in range(d)],
        "k": k,
        "alpha": Fraction(int(rng.integers(1, 9)), 4),
        "other": draw_block(rng, corners, ONE),
    }


#: V^-1(w) = w + log w
def inverse(w: Fraction) -> Log:
    """T with V(t) = w, V(t) = W(e^t)."""
    return log(w) + w


def _check_system(
    trial: Trial,
    *,
    x: Vector,
    slack: Vector,
    k: int,
    alpha: Fraction,
    other: Array,
    share: Callable[[int], Fraction],
    sign: int,
) -> None:
    """From t = V^-1 of the last equation, b is read; x must then minimise the objective of b."""
    s, p = sum(x, ZERO), sum(slack, ZERO)
    # alpha (1-s) = V(alpha - t - p/k)
    t = alpha - share(k) * p - inverse(alpha * (1 - s))
    # alpha x_i = V(b_i - t - nu_i)
    b = [inverse(alpha * x_i) + t + sign * nu for x_i, nu in zip(x, slack, strict=True)]

    def objective(point: Numbers) -> Log:
        total = alpha / 2 * (square(point) + sum(point, ZERO) ** 2) + binary(point)
        for v, b_i in zip(point, b, strict=True):
            total = total - v * b_i
        return total

    best, elsewhere = objective(x), objective(other)
    trial.exactly(best <= elsewhere, "another point of the set has a lower objective")
    nearby = [(999 * v + w) / 1000 for v, w in zip(x, other, strict=True)]
    trial.exactly(best <= objective(nearby), "a point nearby has a lower objective")


SYSTEM = stated(
    "Proposition 11, the system solved",
    draw=_draw_system,
    check=_check_system,
    says={"share": lambda k: Fraction(1, k), "sign": 1},
    wrong={
        "p in place of p/k": {"share": lambda k: ONE},
        "nu subtracted": {"sign": -1},
        "no p": {"share": lambda k: ZERO},
    },
)
