"""Proposition 1: (4) is the dual of (3); identities at its solutions; its form."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from verification.claims import Claim, Inputs, Rng, Trial
from verification.claims._rational import Matrix, Vector, dot, draw_vector, scale
from verification.claims._svm import (
    HALF,
    ONE,
    ZERO,
    Labels,
    Plus,
    apply,
    augmented,
    combine,
    deformed,
    draw_balanced,
    draw_plus,
    gram,
    margins,
    minimum,
    of_plus,
    quadratic,
    semidefinite,
    signed,
)

#: (K, y, Z, C, lam) -> the matrix of the quadratic form in alpha
Hessian = Callable[[Matrix, Labels, Matrix, Fraction, Fraction], Matrix]


def hessian(k: Matrix, y: Labels, z: Matrix, c: Fraction, lam: Fraction) -> Matrix:
    """K . yy' + Q."""
    return combine(1, signed(k, y), 1, deformed(gram(augmented(z)), c, lam))


def _draw(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    d, s = len(given["x"][0]), len(given["z"][0])
    return {
        **given,
        "alpha": scale(Fraction(1, int(rng.integers(1, 6))), draw_balanced(rng, given["y"])),
        "w": draw_vector(rng, d, 2, 2),
        "b": draw_vector(rng, 1, 2, 2)[0],
        "v": draw_vector(rng, s, 1, 2),
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
    form: Hessian,
    balanced: bool,
) -> None:
    h = form(p.k, p.y, p.z, p.c, p.lam)
    rho = max(1 - m - dot(v, row) for m, row in zip(margins(p.x, p.y, w, b), p.z, strict=True))
    vt = [*v, rho]
    xi = apply(p.zt, vt)
    primal = p.value(w, vt, xi)
    dual = sum(alpha) - quadratic(h, alpha) / 2
    trial.exactly(dual <= primal, "a dual value is above a primal one", primal=primal, dual=dual)
    step = dot(p.solved.w, [p - q for p, q in zip(w, p.solved.w, strict=True)])
    step += p.c * dot(p.solved.xi, [p - q for p, q in zip(xi, p.solved.xi, strict=True)])
    step += p.lam * dot(p.solved.vt, [p - q for p, q in zip(vt, p.solved.vt, strict=True)])
    trial.exactly(step >= 0, "(3) falls from its solution to a feasible point", slope=step)
    rows = p.balance if balanced else []
    point = minimum(h, [ONE] * len(p.y), rows, [ZERO] * len(rows))
    largest = None if point is None else -point.value
    trial.exactly(
        largest == p.solved.value,
        "the largest dual value is not the least primal value",
        primal=p.solved.value,
        dual=largest,
    )


DUALITY = Claim(
    number="Proposition 1, equations (3) and (4)",
    section="3",
    statement="min 1/2 a'(K . yy' + Q)a - 1'a over a >= 0, a'y = 0 is minus the minimum of (3)",
    method="random feasible pairs; both solved in rational arithmetic, equal values at the "
    "solution",
    draw=_draw,
    check=_check,
    says={"form": hessian, "balanced": True},
    wrong={
        "Q . yy' for Q": {
            "form": lambda k, y, z, c, lam: signed(
                combine(1, k, 1, deformed(gram(augmented(z)), c, lam)), y
            )
        },
        "K~ without + 1": {
            "form": lambda k, y, z, c, lam: combine(1, signed(k, y), 1, deformed(gram(z), c, lam))
        },
        "C/lam for lam/C": {
            "form": lambda k, y, z, c, lam: combine(
                1,
                signed(k, y),
                c / lam,
                deformed(gram(augmented(z)), lam, c),
            )
        },
        "without 1/lam": {
            "form": lambda k, y, z, c, lam: combine(
                1, signed(k, y), lam, deformed(gram(augmented(z)), c, lam)
            )
        },
        "without a'y = 0": {"balanced": False},
    },
    instances=80,
    note="(4) writes Q . yy' between two factors a . y, which leaves Q itself: y_i^2 = 1.",
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
    found = slacks(p.q, gram(p.zt), p.solved.alpha)
    trial.exactly(found == p.solved.xi, "the slacks are others", xi=p.solved.xi, found=found)
    halves = [
        sum((a for a, t in zip(p.solved.alpha, p.y, strict=True) if t == s), ZERO) for s in (1, -1)
    ]
    trial.exactly(halves == [p.solved.value] * 2, "a class does not hold half", halves=halves)


def _draw_identities(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    tilt = int(rng.choice([1, 2]))  # correcting functions cheaper tilted than high: xi < 0
    given["z"] = [scale(tilt, row) for row in given["z"]]
    return given


IDENTITIES = Claim(
    number="Proposition 1, identities",
    section="3",
    statement="at every solution xi = Q alpha, the optimum is sum(alpha)/2, and each class holds "
    "half of sum(alpha)",
    method="solved in rational arithmetic",
    expected="repaired",
    draw=_draw_identities,
    check=_check_identities,
    says={"share": HALF, "slacks": lambda q, kt, a: apply(q, a)},
    wrong={
        "optimum = sum(alpha)": {"share": ONE},
        "xi = K~ alpha": {"slacks": lambda q, kt, a: apply(kt, a)},
        "xi = max(0, Q alpha)": {"slacks": lambda q, kt, a: [max(ZERO, t) for t in apply(q, a)]},
    },
    instances=60,
    note="Ours; the paper does not say how the slacks follow from alpha.",
)


# --------------------------------------------------------------------------------- form of an SVM


@of_plus
def _check_form(
    trial: Trial, p: Plus, *, alpha: Vector, kernel: Callable[[Matrix, Matrix, Labels], Matrix]
) -> None:
    k = kernel(p.k, p.q, p.y)
    trial.exactly(k == [list(row) for row in zip(*k, strict=True)], "not symmetric", kernel=k)
    u = [a * t for a, t in zip(alpha, p.y, strict=True)]
    trial.exactly(semidefinite(k), "not positive semidefinite", kernel=k)
    trial.exactly(
        quadratic(k, u) == quadratic(p.h, alpha),
        "the quadratic form of an SVM with this kernel is not that of (4)",
        kernel=k,
    )


def _draw_form(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    return {**given, "alpha": draw_vector(rng, len(given["y"]), 3, 1)}


FORM = Claim(
    number="Equation (4), an SVM with another kernel",
    section="3",
    statement="(4) is the dual of an SVM with the kernel K + Q . yy' in place of K, which is "
    "symmetric and positive semidefinite",
    method="quadratic forms at random points, exact elimination",
    draw=_draw_form,
    check=_check_form,
    says={"kernel": lambda k, q, y: combine(1, k, 1, signed(q, y))},
    wrong={
        "K + Q": {"kernel": lambda k, q, y: combine(1, k, 1, q)},
        "K - Q . yy'": {"kernel": lambda k, q, y: combine(1, k, -1, signed(q, y))},
    },
    instances=80,
    note="Of an SVM without the bound alpha <= C, i.e. with a hard margin: see Algorithm 1. The "
    "kernel depends on the labels, Q does not.",
)
