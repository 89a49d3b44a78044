"""Whether a primal and a dual problem meet: by CVXPY, or not, by bounds that hold for all points."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from verification.paper_statements._cone import smooth_hinge_alpha
from verification.paper_statements._erm import (
    Conjugate,
    Problem,
    draw_problem,
    dual,
    norm2,
    primal,
    weights,
)
from verification.paper_statements._oracle import dual_solution, primal_solution
from verification.paper_statements._rational import Array, Matrix, Vector, dot, square
from verification.paper_statements._topk import ZERO, Loss, conjugate, costs
from verification.paper_statements._trial import Inputs, Rng, Trial
from verification.paper_statements._update import smooth_conjugate

#: (m, k, y) -> slopes of a loss of a + c in R^m
Pieces = Callable[[int, int, int], Matrix]


def of_differences(pieces: Matrix, j: int) -> Matrix:
    """Slopes of x -> phi(x - x_j 1), from those of phi."""
    return [[v - sum(p, ZERO) if i == j else v for i, v in enumerate(p)] for p in pieces]


def lower_bound(
    problem: Problem, multipliers: Matrix, pieces: Pieces, gamma: Fraction
) -> Fraction | None:
    """A bound on P(W) from below, for every W at once; None if the multipliers give none.

    For any p_i the loss is at least <p_i, a_i> - L*(p_i), L* = conjugate of the pieces (by linear
    programming) + gamma/2 ||p_i||^2; what remains is a quadratic function of W.
    """
    columns, constant = [], ZERO
    for p, y in zip(multipliers, problem.labels, strict=True):
        slopes = pieces(problem.m, problem.k, y)
        value = conjugate(slopes, [dot(slope, costs(problem.m, y)) for slope in slopes], p)
        if value is None:
            return None
        constant -= (value + gamma / 2 * square(p)) / problem.n
        columns.append(of_differences([p], y)[0])
    return constant - problem.lam / 2 * norm2(weights(problem, -problem.radius * np.array(columns)))


def check_bounds(
    trial: Trial,
    *,
    problem: Problem,
    gamma: Fraction,
    multipliers: Matrix,
    w: Array,
    columns: Array,
    pieces: Pieces,
) -> None:
    """Whether the gap can close: a bound below all P(W) against a bound above all D(A).

    D as printed is the dual of the loss summed over the others, so any P of that loss bounds it.
    """

    def others(z: Vector, k: int) -> Fraction:
        return smooth_hinge_alpha(z, k, gamma)

    least, most = lower_bound(problem, multipliers, pieces, gamma), primal(problem, w, others)
    trial.exactly(
        least is None or least <= most,
        "every P(W) exceeds every D(A) by a fixed amount",
        least_primal=least,
        largest_dual=most,
        attained_dual=dual(problem, columns, smooth_conjugate(gamma)),
    )


def draw_training(rng: Rng) -> Inputs:
    """A problem with at least three examples and three classes."""
    while True:
        problem = draw_problem(rng, largest_n=8, largest_m=5)
        if problem.m > 2 and problem.n > 2:
            return {"problem": problem}


def check_meeting(
    trial: Trial,
    *,
    problem: Problem,
    object_name: str,
    loss: Loss,
    lam_factor: int,
    dual_name: str,
    gamma: Fraction,
    conjugate: Conjugate,
) -> None:
    """Whether CVXPY's least primal and largest dual value agree.

    The primal is that of the loss `object_name` with values `loss`; the dual is that of `dual_name` with
    the conjugate of the papers. Both values are taken in rational arithmetic, at points that are feasible.
    """
    solved = replace(problem, lam=lam_factor * problem.lam)
    least = primal(solved, primal_solution(solved, object_name, gamma), loss)
    largest = dual(problem, dual_solution(problem, dual_name, gamma), conjugate)
    if largest is None:
        raise ArithmeticError("the dual solution was not moved into the domain")
    # P(0) <= 1 bounds both values; the solver's accuracy is 1e-8 of it.
    trial.within(
        float(least - largest), 1e-7, "least primal and largest dual value differ", primal=least
    )
