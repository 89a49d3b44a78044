"""Problem (3), SVM+ with the squared hinge loss: xi >= 0, and the penalty on rho."""

import operator
from collections.abc import Callable
from fractions import Fraction

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import vector
from verification.paper_statements._svm import (
    Plus,
    Vector,
    draw_plus,
    identity,
    inverse,
    of_plus,
    squared_nonneg,
    svm_dual,
)
from verification.paper_statements.xu_2016 import stated

#: The two samples of the counterexample: xi = (-1/467, 59/467) at the optimum of (3).
TWO = {
    "x": [vector(1), vector(-1)],
    "y": (1, -1),
    "z": [vector(2), vector(-4)],
    "c": Fraction(1),
    "lam": Fraction(20),
}
Relation = Callable[[Fraction, Fraction], bool]


def draw_tilted(rng: Rng) -> Inputs:
    """Correcting functions that are cheaper tilted than high: negative slacks are common."""
    given = draw_plus(rng, most=3)
    given["z"] = 2 * np.array(given["z"])
    return {**given, "lam": int(rng.choice([1, 10])) * given["lam"]}


def with_nonneg(p: Plus) -> tuple[Fraction, Vector]:
    """Least value and slacks of (3) with xi >= 0; proved by a feasible point of the same value."""
    point = squared_nonneg(p, p.q)
    alpha, beta = np.split(point.a, 2)
    found = p.recovered(point, alpha, p.vt(alpha + beta))
    if min(found.xi) < 0:
        raise ArithmeticError("an exact optimality certificate does not hold")
    return found.value, found.xi


@of_plus
def _check_dropped(trial: Trial, p: Plus, *, relation: Relation) -> None:
    without, kept = p.solved, with_nonneg(p)[0]
    trial.exactly(
        relation(without.value, kept),
        "dropping xi >= 0 changes the optimum",
        without=without.value,
        kept=kept,
        xi=without.xi,
    )


DROPPED_PRINTED = stated(
    "Equation (3), xi >= 0 as printed",
    draw=draw_tilted,
    check=_check_dropped,
    says={"relation": operator.eq},
    right={"relation": operator.le},
    witnesses=(TWO,),
)


@of_plus
def _check_condition(trial: Trial, p: Plus, *, harmless: Callable[[Vector], bool]) -> None:
    without, kept = p.solved, with_nonneg(p)[0]
    trial.exactly(
        (without.value == kept) == harmless(without.xi),
        "the condition for equal optima is another",
        without=without.value,
        kept=kept,
        xi=without.xi,
    )


CONDITION = stated(
    "Equation (3), when xi >= 0 is harmless",
    draw=draw_tilted,
    check=_check_condition,
    says={"harmless": lambda xi: min(xi) >= 0},
    wrong={
        "always": {"harmless": lambda xi: True},
        "never": {"harmless": lambda xi: False},
        "nonnegative on average": {"harmless": lambda xi: sum(xi) >= 0},
        "positive": {"harmless": lambda xi: min(xi) > 0},
    },
    witnesses=({**TWO, "lam": Fraction(18)},),
)


@of_plus
def _check_free(trial: Trial, p: Plus, *, free: bool) -> None:
    q = identity(len(p.y)) / p.c if free else p.q
    without = -svm_dual(p.ky + q, p.y).value
    kept = -squared_nonneg(p, q).value
    trial.exactly(without == kept, "the optima differ", without=without, kept=kept)


FREE = stated(
    "Squared-hinge SVM, xi >= 0",
    draw=draw_tilted,
    check=_check_free,
    says={"free": True},
    wrong={"slacks tied by v~ as in (3)": {"free": False}},
)


@of_plus
def _check_variables(trial: Trial, p: Plus, *, kept: bool) -> None:
    n_variables = -svm_dual(p.h, p.y).value
    least = with_nonneg(p)[0] if kept else p.solved.value
    trial.exactly(
        n_variables == least,
        "the largest value over n dual variables is not the least primal value",
        dual=n_variables,
        primal=least,
    )


VARIABLES_PRINTED = stated(
    "Section 3, n variables by the square",
    draw=draw_tilted,
    check=_check_variables,
    says={"kept": True},
    right={"kept": False},
    witnesses=(TWO,),
)


@of_plus
def _check_rho(trial: Trial, p: Plus, *, penalised: int) -> None:
    normal = p.normal.copy()
    normal[-1, -1] -= p.lam * (1 - penalised)
    back = inverse(normal)
    point = svm_dual(p.ky + p.zt @ back @ p.zt.T, p.y)
    w = p.w(point.a)
    vt = back @ (point.a @ p.zt)
    xi = p.zt @ vt
    feasible = p.feasible(w, point.mult[0], xi)
    trial.exactly(feasible, "the primal point of the largest dual value is infeasible")
    value = (w @ w + p.c * (xi @ xi) + p.lam * (vt[:-1] @ vt[:-1])) / 2
    trial.exactly(value == -point.value, "values differ", primal=value, dual=-point.value)


RHO = stated(
    "Equation (3), penalty on rho",
    draw=draw_plus,
    check=_check_rho,
    says={"penalised": 0},
    wrong={"Q of (5)": {"penalised": 1}},
)
