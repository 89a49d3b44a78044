"""Input on which a problem has no solution, or not the one that is meant."""

import operator
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Relation, draw_vector, vector
from verification.paper_statements._svm import (
    ONE,
    ZERO,
    Labels,
    Matrix,
    Plus,
    augmented,
    deformed,
    draw_plus,
    full,
    of_plus,
    ray,
    semidefinite,
    signed,
)
from verification.paper_statements.xu_2016 import stated

# ==========================================================================================
# Degenerate data: one class, contradictory samples, indefinite kernels, weights of 0.
# ==========================================================================================

# ------------------------------------------------------------------------------------- one class


def _draw_one(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    return {**given, "y": (int(rng.choice([-1, 1])),) * len(given["y"])}


@of_plus
def _check_one(trial: Trial, p: Plus, *, biases: tuple[Fraction, ...]) -> None:
    another = ray(full(ZERO, len(p.y), len(p.y)), p.y)
    trial.exactly(another is None, "alpha = 0 is not the only feasible point", alpha=another)
    w, vt, xi = (full(ZERO, n) for n in (p.x.shape[1], p.zt.shape[1], len(p.y)))
    for b in biases:
        b *= p.y[0]
        trial.exactly(p.value(w, vt, xi) == 0 and p.feasible(w, b, xi), "not a solution", b=b)


ONE_CLASS = stated("Problem (3), one class", draw=_draw_one, check=_check_one)


# ---------------------------------------------------------------------------------- feasibility


def _draw_contradictory(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    i, j = given["y"].index(1), given["y"].index(-1)
    for name in ("x", "z"):
        given[name][j] = given[name][i]
    if rng.random() < 0.5:
        given["z"] = [[ZERO] * len(row) for row in given["z"]]
    return given


@of_plus
def _check_feasible_degenerate(trial: Trial, p: Plus, *, constant: int) -> None:
    direction = ray(p.ky + deformed(p.kz + constant, p.c, p.lam), p.y)
    trial.exactly(direction is None, "the dual has a ray: no feasible point", ray=direction)
    if constant:
        value = p.solved.value
        bound = (p.c * len(p.y) + p.lam) / 2
        trial.exactly(0 < value <= bound, "the optimum is outside", optimum=value, bound=bound)


FEASIBLE = stated(
    "Problem (3), feasibility", draw=_draw_contradictory, check=_check_feasible_degenerate
)


# ---------------------------------------------------------------------------- indefinite kernels


def _draw_kernel(rng: Rng) -> Inputs:
    a, b, d = draw_vector(rng, 3, 2, 1)
    given = draw_plus(rng, most=2)
    return {"k": [[a, b], [b, d]], **{name: given[name] for name in ("z", "c", "lam")}}


def _check_bounded(
    trial: Trial, *, k: Matrix, z: Matrix, c: Fraction, lam: Fraction, definite: bool
) -> None:
    k, zt = np.array(k), augmented(np.array(z))
    if definite:
        k = k @ k.T
    curvature = (signed(k, np.array([1, -1])) + deformed(zt @ zt.T, c, lam)).sum()
    trial.exactly(
        curvature > 0, "(4) falls without bound along alpha = (1, 1)", curvature=curvature
    )


INDEFINITE = stated("Equation (4), any kernel", draw=_draw_kernel, check=_check_bounded)


def _draw_correcting(rng: Rng) -> Inputs:
    given = _draw_kernel(rng)
    return {"kz": given["k"], "c": given["c"], "lam": given["lam"]}


def _check_correcting(
    trial: Trial, *, kz: Matrix, c: Fraction, lam: Fraction, definite: bool
) -> None:
    kz = np.array(kz)
    kt = (kz @ kz.T if definite else kz) + 1
    try:
        q = deformed(kt, c, lam)
    except ArithmeticError:
        trial.exactly(False, "lam/C I + K~ has no inverse", kt=kt)
        return
    trial.exactly(semidefinite(q), "Q is not positive semidefinite", q=q)


INDEFINITE_Z = stated(
    "Equation (5), indefinite kernels", draw=_draw_correcting, check=_check_correcting
)


# ------------------------------------------------------------------------------------- weights


@of_plus
def _check_weight(trial: Trial, p: Plus, *, weight: Fraction, relation: Relation) -> None:
    weights = np.array([*[ONE] * (len(p.y) - 1), weight])
    kept = replace(p, weights=weights).solved.value
    dropped = Plus(p.x[:-1], p.y[:-1], p.z[:-1], p.c, p.lam).solved.value
    trial.exactly(
        relation(kept, dropped), "another optimum without the sample", with_=kept, without=dropped
    )


def _draw_weight(rng: Rng) -> Inputs:
    given = draw_plus(rng, least=3)
    if len(set(given["y"][:-1])) == 1:
        given["y"] = (-given["y"][0], *given["y"][1:])
        if len(set(given["y"][:-1])) == 1:
            given["y"] = (given["y"][0], -given["y"][0], *given["y"][2:])
    return {**given, "weight": Fraction(int(rng.integers(2)), 10**6)}


#: The third sample contradicts the other two.
THREE = {
    "x": [vector(1), vector(-1), vector(-1)],
    "y": (1, -1, 1),
    "z": [vector(0)] * 3,
    "c": ONE,
    "lam": ONE,
}

WEIGHT = stated(
    "Problem (3), weights near 0",
    draw=_draw_weight,
    check=_check_weight,
    says={"relation": operator.eq},
    right={"relation": operator.ge},
    witnesses=({**THREE, "weight": ZERO}, {**THREE, "weight": Fraction(1, 10**6)}),
)


# ==========================================================================================
# Footnote 1: the correcting function with the label, g = y (v'z + rho).
# ==========================================================================================


def label_signed(k: Matrix, q: Matrix, y: Labels) -> Matrix:
    """The form of the dual: (K + Q) . yy'."""
    return signed(k + q, y)


def as_before(k: Matrix, q: Matrix, y: Labels) -> Matrix:
    """That of (4): K . yy' + Q."""
    return signed(k, y) + q


@of_plus
def _check_feasible_footnote_1(
    trial: Trial, p: Plus, *, form: Callable[[Matrix, Matrix, Labels], Matrix]
) -> None:
    direction = ray(form(p.k, p.q, p.y), p.y)
    trial.exactly(
        direction is None, "no feasible point: the dual falls without bound", ray=direction
    )


PRINTED = stated(
    "Footnote 1 as printed",
    draw=draw_plus,
    check=_check_feasible_footnote_1,
    says={"form": label_signed},
    right={"form": as_before},
    witnesses=(
        {
            "x": [vector(0), vector(0)],
            "y": (1, -1),
            "z": [vector(0), vector(0)],
            "c": ONE,
            "lam": ONE,
        },
    ),
)


@of_plus
def _check_dual(trial: Trial, p: Plus, *, form: Callable[[Matrix, Matrix, Labels], Matrix]) -> None:
    h = form(p.k, p.q, p.y)
    point = p.minimum(h)
    if point is None:
        direction = ray(h, p.y)
        joined = np.hstack([p.x, p.zt])
        proved = direction is not None and not any(direction * p.y @ joined)
        trial.exactly(proved, "neither a solution nor a proof of infeasibility", ray=direction)
        return
    w, vt = p.w(point.a), p.vt(point.a * p.y)
    xi = p.y * (p.zt @ vt)
    feasible = p.feasible(w, point.mult[0], xi)
    trial.exactly(feasible, "the primal point of the solution is infeasible", xi=xi)
    value = p.value(w, vt, xi)
    trial.exactly(value == -point.value, "values differ", primal=value, dual=-point.value)


SIGNED_DUAL = stated(
    "Footnote 1, dual",
    draw=draw_plus,
    check=_check_dual,
    says={"form": label_signed},
    wrong={
        "K . yy' + Q": {"form": as_before},
        "K + Q . yy'": {"form": lambda k, q, y: k + signed(q, y)},
        "Q twice": {"form": lambda k, q, y: signed(k + 2 * q, y)},
    },
)
