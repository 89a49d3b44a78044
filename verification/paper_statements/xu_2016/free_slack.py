"""Free slack without end: SVM+ becomes the SVM, with either loss."""

from dataclasses import replace
from fractions import Fraction

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Function
from verification.paper_statements._svm import (
    ONE,
    ZERO,
    Plus,
    Point,
    draw_plus,
    full,
    identity,
    minimum,
    of_plus,
)
from verification.paper_statements.xu_2016 import stated
from verification.paper_statements.xu_2016.collapse import SVM, with_free_slack
from verification.paper_statements.xu_2016.equation_2 import dual_of_hinge


def _draw_limit(rng: Rng) -> Inputs:
    return {**draw_plus(rng, most=4), "delta": Fraction(int(10 ** int(rng.integers(0, 7))))}


@of_plus
def _check_limit(trial: Trial, p: Plus, *, delta: Fraction, excess: Function, at: Function) -> None:
    svm = with_free_slack(p, SVM)
    found = with_free_slack(replace(p, c=at(p.c)), delta)
    share = excess(p.lam / (p.c * delta))
    low, value = -svm.value, -found.value
    trial.exactly(
        low <= value <= (1 + share) * low, "the optimum is not between", svm=low, plus=value
    )
    w, u = p.w(svm.a), p.w(found.a)
    near = (w - u) @ (w - u) <= 2 * share * low
    trial.exactly(near, "w is farther away", svm=w, plus=u)


LIMIT = stated(
    "Problem (3), free slack without end",
    draw=_draw_limit,
    check=_check_limit,
    says={"excess": lambda e: e, "at": lambda c: c},
    wrong={
        "equal for finite delta": {"excess": lambda e: ZERO},
        "e^2": {"excess": lambda e: e * e},
        "the SVM with 2C": {"at": lambda c: 2 * c},
    },
)


# ------------------------------------------------------------------------- the same for the hinge


def hinge_svm(p: Plus) -> Point | None:
    """SVM with the hinge loss, in alpha and C - alpha; None without a free support vector."""
    n = len(p.y)
    zero, unit = full(ZERO, n, n), identity(n)
    h = np.block([[p.ky, zero], [zero, zero]])
    e = np.block([[p.y[None], zero[:1]], [unit, unit]])
    return minimum(h, np.repeat([ONE, ZERO], n), e, np.array([ZERO] + [p.c] * n))


def _draw_hinge(rng: Rng) -> Inputs:
    while True:  # with a free support vector b is unique, and the system regular
        given = draw_plus(rng, most=3)
        if hinge_svm(Plus(**given)) is not None:
            return {**given, "delta": Fraction(int(10 ** int(rng.integers(0, 5))))}


@of_plus
def _check_hinge(trial: Trial, p: Plus, *, delta: Fraction, share: Fraction, at: Function) -> None:
    svm = hinge_svm(p)
    plus = dual_of_hinge(replace(p, c=at(p.c)), kz=p.kz + delta * identity(len(p.y)))
    trial.exactly(svm is not None and plus is not None, "a problem has no solution")
    if svm is None or plus is None:
        return
    low, value = -svm.value, plus.value
    w, u = p.w(svm.a[: len(p.y)]), p.w(plus.alpha)
    xi = 1 - p.margins(w, svm.mult[0])
    xi = xi * (xi > 0)
    spread = xi @ xi - xi.sum() ** 2 / len(xi)
    excess = share * p.lam / (2 * delta) * spread
    trial.exactly(low <= value <= low + excess, "the optimum is not between", svm=low, plus=value)
    near = (w - u) @ (w - u) <= 2 * excess
    trial.exactly(near, "w is farther away", svm=w, plus=u)


LIMIT_HINGE = stated(
    "Problem (1), free slack without end",
    draw=_draw_hinge,
    check=_check_hinge,
    says={"share": ONE, "at": lambda c: c},
    wrong={
        "equal for finite delta": {"share": ZERO},
        "a quarter of e": {"share": Fraction(1, 4)},
        "the SVM with C/2": {"at": lambda c: c / 2},
    },
)
