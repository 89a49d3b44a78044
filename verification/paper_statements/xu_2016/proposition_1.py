"""Proposition 1: (4) is the dual of (3); identities at its solutions; its form."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import draw_vector
from verification.paper_statements._svm import (
    HALF,
    ONE,
    Labels,
    Matrix,
    Plus,
    Vector,
    deformed,
    draw_balanced,
    draw_plus,
    of_plus,
    semidefinite,
    signed,
)
from verification.paper_statements.xu_2016 import stated


def _draw(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    d, s = len(given["x"][0]), len(given["z"][0])
    return {
        **given,
        "alpha": Fraction(1, int(rng.integers(1, 6))) * draw_balanced(rng, given["y"]),
        "w": np.array(draw_vector(rng, d, 2, 2)),
        "b": draw_vector(rng, 1, 2, 2)[0],
        "v": np.array(draw_vector(rng, s, 1, 2)),
    }


@of_plus
def _check(
    trial: Trial,
    p: Plus,
    *,
    alpha: Vector,
    w: Vector,
    b: Fraction,
    v: Vector,
    form: Callable[[Plus], Matrix],
    balanced: bool,
) -> None:
    h = form(p)
    vt = np.array([*v, max(1 - p.margins(w, b) - p.z @ v)])
    xi = p.zt @ vt
    primal = p.value(w, vt, xi)
    dual = alpha.sum() - alpha @ h @ alpha / 2
    trial.exactly(dual <= primal, "a dual value is above a primal one", primal=primal, dual=dual)
    best = p.solved
    step = best.w @ (w - best.w) + p.c * (best.xi @ (xi - best.xi))
    step += p.lam * (best.vt @ (vt - best.vt))
    trial.exactly(step >= 0, "(3) falls from its solution to a feasible point", slope=step)
    point = p.minimum(h, balanced)
    largest = None if point is None else -point.value
    trial.exactly(
        largest == p.solved.value,
        "the largest dual value is not the least primal value",
        primal=p.solved.value,
        dual=largest,
    )


DUALITY = stated(
    "Proposition 1, equations (3) and (4)",
    draw=_draw,
    check=_check,
    says={"form": lambda p: p.ky + p.q, "balanced": True},
    wrong={
        "Q . yy' for Q": {"form": lambda p: signed(p.k + p.q, p.y)},
        "K~ without + 1": {"form": lambda p: p.ky + deformed(p.kz, p.c, p.lam)},
        "C/lam for lam/C": {"form": lambda p: p.ky + p.c / p.lam * deformed(p.kt, p.lam, p.c)},
        "without 1/lam": {"form": lambda p: p.ky + p.lam * p.q},
        "without a'y = 0": {"balanced": False},
    },
)


@of_plus
def _check_identities(
    trial: Trial, p: Plus, *, share: Fraction, slacks: Callable[[Matrix, Matrix, Vector], Vector]
) -> None:
    trial.exactly(
        p.solved.value == share * sum(p.solved.alpha),
        "the optimum is another multiple of sum(alpha)",
        optimum=p.solved.value,
        alpha=p.solved.alpha,
    )
    found = slacks(p.q, p.kt, p.solved.alpha)
    same = np.array_equal(found, p.solved.xi)
    trial.exactly(same, "the slacks are others", xi=p.solved.xi, found=found)
    halves = [sum(p.solved.alpha[p.y == s]) for s in (1, -1)]
    trial.exactly(halves == [p.solved.value] * 2, "a class does not hold half", halves=halves)


def _draw_identities(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    tilt = int(rng.choice([1, 2]))  # correcting functions cheaper tilted than high: xi < 0
    given["z"] = tilt * np.array(given["z"])
    return given


IDENTITIES = stated(
    "Proposition 1, identities",
    draw=_draw_identities,
    check=_check_identities,
    says={"share": HALF, "slacks": lambda q, kt, a: q @ a},
    wrong={
        "optimum = sum(alpha)": {"share": ONE},
        "xi = K~ alpha": {"slacks": lambda q, kt, a: kt @ a},
        "xi = max(0, Q alpha)": {"slacks": lambda q, kt, a: np.maximum(0, q @ a)},
    },
)


# --------------------------------------------------------------------------------- form of an SVM


@of_plus
def _check_form(
    trial: Trial, p: Plus, *, alpha: Vector, kernel: Callable[[Matrix, Matrix, Labels], Matrix]
) -> None:
    k = kernel(p.k, p.q, p.y)
    trial.exactly(np.array_equal(k, k.T), "not symmetric", kernel=k)
    u = alpha * p.y
    trial.exactly(semidefinite(k), "not positive semidefinite", kernel=k)
    trial.exactly(
        u @ k @ u == alpha @ p.h @ alpha,
        "the quadratic form of an SVM with this kernel is not that of (4)",
        kernel=k,
    )


def _draw_form(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    return {**given, "alpha": np.array(draw_vector(rng, len(given["y"]), 3, 1))}


FORM = stated(
    "Equation (4), an SVM with another kernel",
    draw=_draw_form,
    check=_check_form,
    says={"kernel": lambda k, q, y: k + signed(q, y)},
    wrong={
        "K + Q": {"kernel": lambda k, q, y: k + q},
        "K - Q . yy'": {"kernel": lambda k, q, y: k - signed(q, y)},
    },
)
