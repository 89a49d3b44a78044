"""Degenerate data: one class, contradictory samples, indefinite kernels, weights of 0."""

from __future__ import annotations

import operator
from collections.abc import Callable
from fractions import Fraction

from verification.claims import Claim, Inputs, Rng, Trial
from verification.claims._rational import Matrix, draw_vector, maximise, scale, vector
from verification.claims._svm import (
    ONE,
    ZERO,
    Plus,
    augmented,
    combine,
    deformed,
    draw_plus,
    gram,
    identity,
    margins,
    multiply,
    of_plus,
    primal_squared,
    quadratic,
    ray,
    semidefinite,
    signed,
    solve_squared,
    transpose,
)

# ------------------------------------------------------------------------------------- one class


def _draw_one(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    return {**given, "y": (int(rng.choice([-1, 1])),) * len(given["y"])}


@of_plus
def _check_one(trial: Trial, p: Plus, *, biases: tuple[Fraction, ...]) -> None:
    n = len(p.y)
    balance = [Fraction(t) for t in p.y]
    signs = [scale(-1, row) for row in identity(n)]
    most = maximise(
        [ONE] * n, [balance, scale(-1, balance), *signs, [ONE] * n], [ZERO] * (n + 2) + [ONE]
    )
    trial.exactly(most.value == 0, "alpha = 0 is not the only feasible point", alpha=most.x)
    for b in biases:
        w, xi = [ZERO] * len(p.x[0]), [ZERO] * n
        value = primal_squared(w, [ZERO] * (len(p.z[0]) + 1), xi, p.c, p.lam)
        trial.exactly(
            value == 0 and min(margins(p.x, p.y, w, b * p.y[0])) >= 1,
            "not a solution",
            b=b * p.y[0],
        )


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
    kt = [[v + constant for v in row] for row in gram(p.z)]
    direction = ray(combine(1, p.ky, 1, deformed(kt, p.c, p.lam)), p.y)
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
    if definite:
        k = multiply(k, transpose(k))
    h = combine(1, signed(k, (1, -1)), 1, deformed(gram(augmented(z)), c, lam))
    curvature = quadratic(h, [ONE, ONE])
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
)


def _draw_correcting(rng: Rng) -> Inputs:
    given = _draw_kernel(rng)
    return {"kz": given["k"], "c": given["c"], "lam": given["lam"]}


def _check_correcting(
    trial: Trial, *, kz: Matrix, c: Fraction, lam: Fraction, definite: bool
) -> None:
    if definite:
        kz = multiply(kz, transpose(kz))
    kt = [[v + 1 for v in row] for row in kz]
    try:
        q = deformed(kt, c, lam)
    except ArithmeticError:
        trial.exactly(False, "lam/C I + K~ has no inverse", kt=kt)
        return
    trial.exactly(semidefinite(q), "Q is not positive semidefinite", q=q)


INDEFINITE_Z = Claim(
    number="Equation (5), indefinite kernels",
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
)


# ------------------------------------------------------------------------------------- weights


@of_plus
def _check_weight(
    trial: Trial, p: Plus, *, weight: Fraction, relation: Callable[[Fraction, Fraction], bool]
) -> None:
    last = len(p.y) - 1
    kept = solve_squared(p.x, p.y, p.z, p.c, p.lam, [*[ONE] * last, weight]).value
    dropped = solve_squared(p.x[:last], p.y[:last], p.z[:last], p.c, p.lam).value
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
)
