"""The update of one dual column, against the printed projection; shared by both papers."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np

from verification.paper_statements._cone import VARIANTS
from verification.paper_statements._erm import (
    Problem,
    column,
    draw_block,
    draw_problem,
    dual,
    weights,
)
from verification.paper_statements._oracle import update_solution
from verification.paper_statements._rational import Array, draw_vector, square
from verification.paper_statements._topk import inside
from verification.paper_statements._trial import Inputs, Rng, Trial

#: (q, y, <x_i,x_i>, gamma n lam) -> b
Target = Callable[[Array, int, Fraction, Fraction], Array]
#: (<x_i,x_i>, gamma n lam) -> rho
Bias = Callable[[Fraction, Fraction], Fraction]
Radius = Callable[[Problem], Fraction]


def smooth_conjugate(
    gamma: Fraction, variant: str = "alpha"
) -> Callable[[Array, int], Fraction | None]:
    """gamma/2 ||v||^2 - <1,v> on the dual set of the hinge over the others, None (+infinity) outside."""

    def value(v: Array, k: int) -> Fraction | None:
        if not inside(v, VARIANTS[variant].halfspaces(len(v), k)):
            return None
        return gamma / 2 * square(v) - sum(v)

    return value


def draw_update(rng: Rng, zero_examples: bool = False, variant: str = "alpha") -> Inputs:
    """A problem with a dual point, an example i, and two candidate blocks for it."""
    problem = draw_problem(rng)
    i = int(rng.integers(problem.n))
    if square(problem.examples[i]) == 0 and not zero_examples:
        problem.examples[i] += 1
    d = problem.m - 1
    corners = VARIANTS[variant].pieces(d, problem.k)

    def point() -> Array:
        return draw_block(rng, corners, problem.radius)

    stray = point() if rng.random() < 0.5 else np.array(draw_vector(rng, d, spread=1))
    return {
        "problem": problem,
        "columns": np.array([column(point(), y) for y in problem.labels]),
        "i": i,
        "x": point(),
        "other": stray,
        "variant": variant,
    }


def partial_scores(problem: Problem, columns: Array, i: int) -> tuple[Array, Fraction]:
    """Q = W'x_i - <x_i,x_i> a_i and <x_i,x_i>."""
    x, k_ii = problem.examples[i], square(problem.examples[i])
    return weights(problem, columns) @ x - k_ii * columns[i], k_ii


def with_block(columns: Array, i: int, x: Array, y: int) -> Array:
    """The dual point with the block x in column i."""
    changed = columns.copy()
    changed[i] = column(x, y)
    return changed


def differences(q: Array, y: int) -> Array:
    """Q without y + (1 - q_y) 1."""
    return np.delete(q, y) + 1 - q[y]


def _objective(x: Array, b: Array, rho: Fraction) -> Fraction:
    return square(x - b) + rho * sum(x) ** 2


def check_identity(
    trial: Trial,
    *,
    problem: Problem,
    columns: Array,
    i: int,
    x: Array,
    other: Array,
    gamma: Fraction,
    target: Target,
    bias: Bias,
    radius: Radius,
    variant: str,
    over: str = "alpha",
) -> None:
    """Whether D and the printed objective over the printed set differ by a negative factor and a constant.

    On the printed set: D(x) - D(x') = -lam (<x_i,x_i> + gamma n lam)/2 (objective difference);
    outside of it: D = -infinity. The exact projection must then beat every candidate.
    """
    y, smoothing = problem.labels[i], gamma * problem.n * problem.lam
    q, k_ii = partial_scores(problem, columns, i)
    b, rho, r = target(q, y, k_ii, smoothing), bias(k_ii, smoothing), radius(problem)
    conjugate = smooth_conjugate(gamma, variant)

    def value(candidate: Array) -> Fraction | None:
        return dual(problem, with_block(columns, i, candidate, y), conjugate)

    at_x, at_other = value(x), value(other)
    trial.exactly(
        (at_other is not None)
        == inside(other, VARIANTS[over].halfspaces(problem.m - 1, problem.k, r)),
        "D is finite on another set",
    )
    if at_x is not None and at_other is not None:
        difference = _objective(x, b, rho) - _objective(other, b, rho)
        trial.exactly(
            at_x - at_other == -problem.lam * (k_ii + smoothing) / 2 * difference,
            "D and the projection's objective do not differ by a factor and a constant",
            dual_difference=at_x - at_other,
            objective_difference=difference,
        )
    best = np.array(VARIANTS[over].project(list(b), problem.k, rho, r))
    at_best = value(best)
    trial.exactly(
        at_best is not None and all(at_best >= v for v in (at_x, at_other) if v is not None),
        "another block has a larger dual value than the projection",
        best=best,
    )


def check_numerically(
    trial: Trial,
    *,
    problem: Problem,
    columns: Array,
    i: int,
    gamma: Fraction,
    target: Target,
    bias: Bias,
    radius: Radius,
    **_: Any,
) -> None:
    """Whether the printed projection has the dual value that CVXPY finds for the block."""
    y, smoothing = problem.labels[i], gamma * problem.n * problem.lam
    q, k_ii = partial_scores(problem, columns, i)
    b, rho, r = target(q, y, k_ii, smoothing), bias(k_ii, smoothing), radius(problem)
    printed = np.array(VARIANTS["alpha"].project(list(b), problem.k, rho, r))
    found = np.array(update_solution(problem, q, y, k_ii, gamma))
    conjugate = smooth_conjugate(gamma)
    at_printed = dual(problem, with_block(columns, i, printed, y), conjugate)
    at_found = dual(problem, with_block(columns, i, found, y), conjugate)
    if at_printed is None or at_found is None:
        trial.exactly(False, "the block lies outside of the domain", block=printed)
        return
    trial.exactly(at_printed >= at_found, "CVXPY finds a larger dual value", found=found)
    # D is of order 1; the oracle's own certificate is 1e-8 of that.
    trial.within(float(at_printed - at_found), 1e-8, "CVXPY finds a much smaller dual value")
