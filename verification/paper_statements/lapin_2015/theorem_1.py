"""Theorem 1: the regularised primal problem and its Fenchel dual."""

from collections.abc import Callable
from fractions import Fraction
from functools import partial

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._erm import (
    Problem,
    block,
    column,
    draw_block,
    draw_problem,
    norm2,
    primal,
    weights,
)
from verification.paper_statements._gap import of_differences
from verification.paper_statements._rational import Array, Vector, dot, draw_vector, scale, vector
from verification.paper_statements._topk import (
    conjugate,
    costs,
    hinge_alpha,
    hinge_beta,
    margins,
    pieces_alpha,
    pieces_beta,
)
from verification.paper_statements.lapin_2015 import stated
from verification.paper_statements.lapin_2015.proposition_3 import other_classes

#: Compatible losses: the two hinges of the other classes, each with its slopes.
VARIANTS = {"alpha": (hinge_alpha, pieces_alpha), "beta": (hinge_beta, pieces_beta)}


def conjugate_in_u(v: Array, k: int, variant: str) -> Fraction | None:
    """Conjugate of u -> loss(u + 1) over the other classes, by a linear program."""
    slopes = VARIANTS[variant][1](len(v), k)
    return conjugate(slopes, [sum(slope, Fraction(0)) for slope in slopes], list(v))


def dual_printed(
    problem: Problem,
    columns: Array,
    variant: str,
    *,
    half: Fraction = Fraction(1, 2),
    averaged: bool = True,
) -> Fraction | None:
    """D(A) inside its domain, with tr(A K A') from the Gram matrix; None outside."""
    total, n = Fraction(0), problem.n
    for a, y in zip(columns, problem.labels, strict=True):
        value = conjugate_in_u(problem.lam * n * block(a, y), problem.k, variant)
        if value is None:
            return None
        total += value
    trace = (problem.examples @ problem.examples.T * (columns @ columns.T)).sum()
    return -(total / n if averaged else total) - half * problem.lam * trace


def _draw(rng: Rng) -> Inputs:
    problem, variant = draw_problem(rng), str(rng.choice(list(VARIANTS)))
    points = VARIANTS[variant][1](problem.m - 1, problem.k)
    dimension = problem.examples.shape[1]
    w = [draw_vector(rng, dimension, spread=2) for _ in range(problem.m)]
    columns = [column(draw_block(rng, points, problem.radius), y) for y in problem.labels]
    return {"problem": problem, "variant": variant, "w": np.array(w), "columns": np.array(columns)}


def _check(
    trial: Trial,
    *,
    problem: Problem,
    variant: str,
    w: Array,
    columns: Array,
    dual: Callable[[Problem, Array, str], Fraction | None],
    recover: Callable[[Problem, Array], Array],
) -> None:
    """P(W) - D(A) = (1/n) sum of Fenchel-Young residuals + lam/2 ||W - X A'||^2, term by term."""
    recovered, loss = recover(problem, columns), VARIANTS[variant][0]
    residuals = []
    for x, y, a in zip(problem.examples, problem.labels, columns, strict=True):
        z = margins(w @ x, y)
        v = problem.lam * problem.n * block(a, y)
        conjugated = conjugate_in_u(v, problem.k, variant)
        if conjugated is None:
            trial.exactly(False, "a column of the domain has an infinite conjugate")
            return
        residuals.append(loss(z, problem.k) + conjugated - v @ (np.array(z) - 1))
    trial.exactly(min(residuals) >= 0, "a Fenchel-Young residual is negative")
    value = dual(problem, columns, variant)
    gap = None if value is None else primal(problem, w, loss) - value
    trial.exactly(
        gap == sum(residuals) / problem.n + problem.lam / 2 * norm2(w - recovered),
        "P(W) - D(A) is not the sum of the Fenchel-Young residuals and lam/2 ||W - XA'||^2",
        gap=gap,
    )
    for i, x in enumerate(problem.examples):
        same = np.array_equal(recovered @ x, problem.examples @ x @ columns)
        trial.exactly(same, "W'x_i is not A K_i", example=i)


THEOREM_1 = stated(
    "Theorem 1",
    draw=_draw,
    check=_check,
    says={"dual": dual_printed, "recover": weights},
    wrong={
        "lam in place of lam/2": {"dual": partial(dual_printed, half=Fraction(1))},
        "sum in place of the mean": {"dual": partial(dual_printed, averaged=False)},
        "W = -XA'": {"recover": lambda p, a: -weights(p, a)},
    },
)


# ---------------------------------------------------------------------------- outside of the domain


def _draw_outside(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 5))
    y = int(rng.integers(m))
    a = draw_vector(rng, m, spread=2)
    if sum(a) == 0:
        a[y] += 1
    return {"a": a, "y": y, "k": int(rng.integers(1, m))}


def _check_outside(trial: Trial, *, a: Vector, y: int, k: int, outside: int) -> None:
    """One example x = 0, lam = 1: D(A) = -Phi*(-a), and P(0) = 1 whatever A is."""
    m = len(a)
    slopes = other_classes(m, k, y)
    offsets = [dot(slope, costs(m, y)) for slope in slopes]
    conjugated = conjugate(of_differences(slopes, y), offsets, scale(-1, a))
    trial.exactly(conjugated is None, "the conjugate is finite although <1,a> is not 0")
    zero = np.array([vector(0)] * m)
    at_zero = primal(Problem(zero[:1], (y,), m, k, Fraction(1)), zero, hinge_alpha)
    trial.exactly(
        outside < 0,
        "D(A) = -Phi*(-a) = -infinity, and a dual value of +infinity exceeds every P(W)",
        P_at_0=at_zero,
        sign_of_D=outside,
    )


OUTSIDE_PRINTED = stated(
    "Theorem 1, outside of the domain",
    draw=_draw_outside,
    check=_check_outside,
    says={"outside": 1},
    right={"outside": -1},
    witnesses=({"a": vector(1, 0), "y": 0, "k": 1},),
)

OUTSIDE_RIGHT = OUTSIDE_PRINTED.corrected(wrong={"plus infinity": {"outside": 1}})
