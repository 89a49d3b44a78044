"""Degenerate data: one class, contradictory samples, indefinite kernels, weights of 0."""

import operator
from dataclasses import replace
from fractions import Fraction

import numpy as np

from verification.paper_statements import Claim, Inputs, Rng, Trial
from verification.paper_statements._rational import Relation, draw_vector, vector
from verification.paper_statements._svm import (
    ONE,
    ZERO,
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


ONE_CLASS = Claim(
    number="Problem (3), one class",
    section="3",
    statement="with one class the optimum is 0, at w = 0, v~ = 0 and every b with y b >= 1; "
    "alpha = 0 is the only dual point, and no support vector gives b",
    method="the primal points, and an exact linear program over the dual's feasible set",
    expected="repaired",
    draw=_draw_one,
    check=_check_one,
    says={"biases": (ONE, Fraction(3))},
    wrong={"b = y/2": {"biases": (Fraction(1, 2),)}, "b = 0": {"biases": (ZERO,)}},
    instances=30,
    note="Neither infeasible nor unbounded, but nothing is learnt: training should refuse.",
)


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
def _check_feasible(trial: Trial, p: Plus, *, constant: int) -> None:
    direction = ray(p.ky + deformed(p.kz + constant, p.c, p.lam), p.y)
    trial.exactly(direction is None, "the dual has a ray: no feasible point", ray=direction)
    if constant:
        value = p.solved.value
        bound = (p.c * len(p.y) + p.lam) / 2
        trial.exactly(0 < value <= bound, "the optimum is outside", optimum=value, bound=bound)


FEASIBLE = Claim(
    number="Problem (3), feasibility",
    section="3",
    statement="(3) has a feasible point for all data, equal samples with different labels "
    "included: 0 < optimum <= (Cn + lam)/2, the value at w = 0, rho = 1",
    method="data with a contradiction; rays of the dual and optimum, rational",
    expected="repaired",
    draw=_draw_contradictory,
    check=_check_feasible,
    says={"constant": 1},
    wrong={"without rho": {"constant": 0}},
    instances=60,
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


INDEFINITE = Claim(
    number="Equation (4), any kernel",
    section="3",
    statement="any kind of kernel function can be used in (4), also one that is not positive "
    "semidefinite",
    method="two samples of both classes, y = (+, -): curvature along the one feasible direction",
    expected="refuted",
    draw=_draw_kernel,
    check=_check_bounded,
    says={"definite": False},
    right={"definite": True},
    witnesses=(
        {"k": [vector(0, 1), vector(1, 0)], "z": [vector(0)] * 2, "c": ONE, "lam": Fraction(3)},
    ),
    instances=40,
    note="Without a box there is nothing to stop it; an SVM with 0 <= alpha <= C has a solution "
    "for every kernel.",
    voice="ours",
)


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


INDEFINITE_Z = Claim(
    number="Equation (5), indefinite kernels",
    apart="general",
    section="3",
    statement="any kind of kernel function can be used in (5), also one that is not positive "
    "semidefinite",
    method="Q for two samples in rational arithmetic, exact elimination",
    expected="refuted",
    draw=_draw_correcting,
    check=_check_correcting,
    says={"definite": False},
    right={"definite": True},
    witnesses=(
        {"kz": [vector(-3, 0), vector(0, -3)], "c": ONE, "lam": Fraction(3)},
        {"kz": [vector(-3, 0), vector(0, -3)], "c": ONE, "lam": ONE},
    ),
    instances=40,
    voice="ours",
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

WEIGHT = Claim(
    number="Problem (3), weights near 0",
    section="3",
    statement="with weights in C/2 sum w_i xi_i^2, a sample whose weight is 0 or tends to 0 "
    "is as good as absent",
    method="weights 0 and 1e-6 against no sample, solved in rational arithmetic",
    expected="refuted",
    draw=_draw_weight,
    check=_check_weight,
    says={"relation": operator.eq},
    right={"relation": operator.ge},
    witnesses=({**THREE, "weight": ZERO}, {**THREE, "weight": Fraction(1, 10**6)}),
    instances=30,
    note="Ours. Its constraint y f(x) >= 1 - g(z) stays, and g is tied by v~: rows of weight 0 "
    "have to be dropped.",
    voice="ours",
)
