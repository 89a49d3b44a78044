"""Problems (1) to (3): duality, slacks, collapse."""

import operator
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Function, draw_vector, vector
from verification.paper_statements._svm import (
    ONE,
    ZERO,
    Labels,
    Matrix,
    Plus,
    Point,
    Vector,
    deformed,
    draw_labels,
    draw_plus,
    full,
    identity,
    inverse,
    minimum,
    of_plus,
    squared_nonneg,
    svm_dual,
)
from verification.paper_statements.xu_2016 import stated

# ==========================================================================================
# Problem (3), SVM+ with the squared hinge loss: xi >= 0, and the penalty on rho.
# ==========================================================================================

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


FREE = stated("Squared-hinge SVM, xi >= 0", draw=draw_tilted, check=_check_free)


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


RHO = stated("Equation (3), penalty on rho", draw=draw_plus, check=_check_rho)


# ==========================================================================================
# Problem (1), SVM+ with the hinge loss, and its dual (2): constraints, kernels, variables.
# ==========================================================================================


@dataclass(frozen=True)
class Hinge:
    """Maximum of (2) with gamma = a + b - C, and the multipliers of the equations kept."""

    value: Fraction
    alpha: Vector
    gamma: Vector
    mult: dict[int, Fraction]


def dual_of_hinge(
    p: Plus, rows: Sequence[int] = (0, 1), both: bool = True, kz: Matrix | None = None
) -> Hinge | None:
    """Maximum of (2); None if unbounded.

    `rows` names the equations that are kept: 0 is a'y = 0 and 1 is sum(a + b - C) = 0. Without
    `both`, b = 0: the dual of (1) without xi >= 0. `kz` takes the place of the linear kernel.
    """
    n = len(p.y)
    kz = p.kz if kz is None else kz
    part = kz / p.lam
    linear = p.c * part.sum(axis=1)
    h, right, e = p.ky + part, 1 + linear, np.stack([p.y, full(ONE, n)])
    if both:
        h, right = np.block([[h, part], [part, part]]), np.concatenate([right, linear])
        e = np.hstack([e, np.stack([full(ZERO, n), full(ONE, n)])])
    kept = list(rows)
    point = minimum(h, right, e[kept], np.array([ZERO, n * p.c])[kept])
    if point is None:
        return None
    alpha = point.a[:n]
    gamma = alpha - p.c + (point.a[n:] if both else 0)
    value = sum(alpha) - alpha @ p.ky @ alpha / 2 - gamma @ kz @ gamma / (2 * p.lam)
    return Hinge(value, alpha, gamma, dict(zip(rows, point.mult, strict=True)))


def model_of(found: Hinge, p: Plus) -> tuple[Vector, Vector]:
    """W = X'(a.y) and v = Z'gamma/lam."""
    return p.w(found.alpha), found.gamma @ p.z / p.lam


@of_plus
def _check_duality(
    trial: Trial,
    p: Plus,
    *,
    others: list[tuple[Vector, Fraction, Vector]],
    rows: Sequence[int],
    divisor: int,
    nonneg: bool,
    both: bool,
) -> None:
    found = dual_of_hinge(replace(p, lam=p.lam / divisor), rows, both)
    trial.exactly(found is not None, "the dual has no solution although the primal has one")
    if found is None:
        return
    w, v = model_of(found, p)
    b, rho = found.mult.get(0, ZERO), found.mult.get(1, ZERO)
    xi = p.z @ v + rho
    feasible = p.feasible(w, b, xi)
    if nonneg:
        feasible = feasible and min(xi) >= 0
    trial.exactly(feasible, "the primal point of the largest dual value is infeasible", xi=xi)
    primal, dual = w @ w / 2 + p.c * sum(xi) + p.lam * (v @ v) / 2, found.value
    trial.exactly(primal == dual, "primal and dual value differ", primal=primal, dual=dual)
    step_b = Fraction(1, 64)
    others = [*others, (w, b + step_b, v), (w, b - step_b, v)]
    if tuple(rows) != (0, 1):  # what both equations give; nothing new where they are kept
        whole = dual_of_hinge(p, both=nonneg)
        if whole is not None:
            w_, v_ = model_of(whole, p)
            others.append((w_, whole.mult[0], v_))
    for w_, b_, v_ in others:
        # Towards every feasible point the objective must not fall: optimal, whatever (2) says.
        free = p.z @ v_
        least = 1 - p.margins(w_, b_) - free
        rho_ = max(*least, *-free) if nonneg else max(least)
        step = w @ (w_ - w) + p.c * sum(free + rho_ - xi) + p.lam * (v @ (v_ - v))
        trial.exactly(step >= 0, "a feasible point has a smaller value", slope=step)


def draw_small(rng: Rng) -> Inputs:
    """Few samples: (2) has twice as many variables."""
    return draw_plus(rng, most=3)


def _draw_duality(rng: Rng) -> Inputs:
    given = draw_small(rng)
    d, s = len(given["x"][0]), len(given["z"][0])
    others = [
        (draw_vector(rng, d, 2, 2), draw_vector(rng, 1, 2, 2)[0], draw_vector(rng, s, 2, 2))
        for _ in range(3)
    ]
    return {**given, "others": others}


DUALITY = stated("Equations (1) and (2)", draw=_draw_duality, check=_check_duality)

VARIABLES = DUALITY.also("Equation (2) with b = 0")


@of_plus
def _check_constant(trial: Trial, p: Plus, *, rows: Sequence[int]) -> None:
    plain, moved = dual_of_hinge(p, rows), dual_of_hinge(p, rows, kz=p.kz + 3)
    values = [None if found is None else found.value for found in (plain, moved)]
    trial.exactly(values[0] == values[1], "the constant changes the optimum", optima=values)
    if plain is not None:
        trial.exactly(sum(plain.gamma) == 0, "sum(a+b-C) is not 0", gamma=plain.gamma)


ANY_KERNEL = stated("Equation (2), any kernel", draw=draw_small, check=_check_constant)


# ==========================================================================================
# What SVM+ does with a Z that says nothing, and what free slack changes.
# ==========================================================================================


def with_free_slack(p: Plus, delta: Fraction) -> Point:
    """(4) with K~ + delta I; squared-hinge SVM, Q = I/C, for an infinite delta (negative here)."""
    unit = identity(len(p.y))
    q = unit / p.c if delta < 0 else deformed(p.kt + delta * unit, p.c, p.lam)
    return svm_dual(p.ky + q, p.y)


SVM = Fraction(-1)


def _draw(rng: Rng) -> Inputs:
    n = int(rng.integers(2, 5))
    return {
        "x": [[v] for v in draw_vector(rng, n, 3, 1)],
        "y": draw_labels(rng, n),
        "z": [draw_vector(rng, 1, 2, 1)] * n,
        "c": Fraction(int(rng.integers(1, 5)), 2),
        "lam": Fraction(int(rng.integers(1, 5)), 2),
    }


@of_plus
def _check_back(trial: Trial, p: Plus, *, delta: Fraction) -> None:
    svm = p.w(with_free_slack(p, SVM).a)
    plus = p.w(with_free_slack(p, delta).a)
    trial.exactly(any(plus) or not any(svm), "w = 0, the SVM's w is not", w=plus, svm=svm)


BACK_PRINTED = stated(
    "Problem (3), falling back to an SVM",
    draw=_draw,
    check=_check_back,
    witnesses=(
        {
            "x": [vector(0), vector(1), vector(2), vector(3)],
            "y": (-1, 1, -1, 1),
            "z": [vector(0)] * 4,
            "c": ONE,
            "lam": ONE,
        },
    ),
)


def hulls_meet(x: Vector, y: Labels) -> bool:
    """Whether the intervals of the two classes have a point in common."""
    ends = [x[y == 1], x[y == -1]]
    return bool(max(map(min, ends)) <= min(map(max, ends)))


def means_equal(x: Vector, y: Labels) -> bool:
    """Whether the classes have the same mean."""
    return bool(x[y == 1].mean() == x[y == -1].mean())


@of_plus
def _check_when(
    trial: Trial,
    p: Plus,
    *,
    delta: Fraction,
    hinge: bool,
    collapsed: Callable[[Vector, Labels], bool],
) -> None:
    found = [with_free_slack(p, delta).a]
    if hinge and len(p.y) <= 3:
        solved = dual_of_hinge(p)
        found.append(solved.alpha if solved else full(ZERO, len(p.y)))
    expected = collapsed(p.x[:, 0], p.y)
    for alpha in found:
        w = p.w(alpha)
        trial.exactly(expected == (not any(w)), "w is 0 in other cases", w=w, expected=expected)


WHEN = stated(
    "Problems (1) and (3), collapse",
    draw=_draw,
    check=_check_when,
    says={"delta": ZERO, "hinge": True, "collapsed": hulls_meet},
    wrong={
        "never": {"collapsed": lambda x, y: False},
        "equal means": {"collapsed": means_equal},
        "with free slack": {"delta": ONE, "hinge": False},
    },
)

CURED = WHEN.also(
    "Problem (3), free slack",
    says={"delta": Fraction(1, 2), "hinge": False, "collapsed": means_equal},
    wrong={
        "where the hulls meet": {"collapsed": hulls_meet},
        "without free slack": {"delta": ZERO},
    },
)


# ==========================================================================================
# Free slack without end: SVM+ becomes the SVM, with either loss.
# ==========================================================================================


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
