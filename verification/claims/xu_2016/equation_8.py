"""Equations (8) to (11) and (13): the Lagrangian, where it is stationary, its value there."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from verification.claims import Claim, Inputs, Rng, Trial
from verification.claims._rational import Matrix, Vector, dot, draw_vector, square
from verification.claims._svm import (
    ONE,
    Labels,
    Plus,
    apply,
    augmented,
    combination,
    combine,
    draw_balanced,
    draw_plus,
    gram,
    identity,
    inverse,
    margins,
    multiply,
    of_plus,
    quadratic,
    signed,
    transpose,
)
from verification.claims.xu_2016.equation_5 import printed
from verification.claims.xu_2016.proposition_1 import hessian

#: (alpha, y, X) -> w
Recovery = Callable[[Vector, Labels, Matrix], Vector]
#: (lam I, Z~Z~', C) -> the matrix whose inverse gives v~
Normal = Callable[[Matrix, Matrix, Fraction], Matrix]


def lagrangian(
    x: Matrix, y: Labels, z: Matrix, c: Fraction, lam: Fraction, u: Vector, alpha: Vector
) -> Fraction:
    """(8) at u = [w, b, v~]."""
    d = len(x[0])
    w, b, vt = u[:d], u[d], u[d + 1 :]
    xi = apply(augmented(z), vt)
    excess = [m - 1 + t for m, t in zip(margins(x, y, w, b), xi, strict=True)]
    return (square(w) + c * square(xi) + lam * square(vt)) / 2 - dot(alpha, excess)


def _draw(rng: Rng) -> Inputs:
    given = draw_plus(rng)
    return {
        **given,
        "alpha": draw_balanced(rng, given["y"]),
        "b": draw_vector(rng, 1, 3, 2)[0],
        "other": draw_vector(rng, len(given["y"]), 2, 1),
    }


@of_plus
def _check(
    trial: Trial,
    p: Plus,
    *,
    alpha: Vector,
    b: Fraction,
    other: Vector,
    weight: Recovery,
    normal: Normal,
    balanced: bool,
    value: Callable[[Matrix, Labels, Matrix, Fraction, Fraction], Matrix],
) -> None:
    if not balanced:
        alpha = [abs(v) + i for i, v in enumerate(other)]
    system = normal(
        combine(p.lam, identity(len(p.zt[0])), 0, identity(len(p.zt[0]))),
        multiply(transpose(p.zt), p.zt),
        p.c,
    )
    u = [*weight(alpha, p.y, p.x), b, *apply(inverse(system), combination(alpha, p.zt))]
    slopes = []
    for i in range(len(u)):  # central differences are exact: (8) is quadratic
        step = [ONE * (i == j) for j in range(len(u))]
        ends = [
            lagrangian(
                p.x,
                p.y,
                p.z,
                p.c,
                p.lam,
                [p + sign * q for p, q in zip(u, step, strict=True)],
                alpha,
            )
            for sign in (1, -1)
        ]
        slopes.append((ends[0] - ends[1]) / 2)
    trial.exactly(not any(slopes), "the Lagrangian is not stationary", slopes=slopes)
    found = lagrangian(p.x, p.y, p.z, p.c, p.lam, u, alpha)
    said = sum(alpha) - quadratic(value(p.k, p.y, p.z, p.c, p.lam), alpha) / 2
    trial.exactly(found == said, "another value", lagrangian=found, said=said)


def thirteen(k: Matrix, y: Labels, z: Matrix, c: Fraction, lam: Fraction) -> Matrix:
    """The quadratic form of (13), with Q as printed."""
    return combine(1, signed(k, y), 1, printed(gram(augmented(z)), c, lam))


STATIONARY = Claim(
    number="Equations (8), (9), (10), (11) and (13)",
    section="3",
    statement="the Lagrangian (8) is stationary in w, b, v~ where (9), (10), (11) hold, "
    "and its value there is (13)",
    method="exact central differences at random alpha with alpha'y = 0, rational",
    draw=_draw,
    check=_check,
    says={
        "weight": lambda a, y, x: combination([u * t for u, t in zip(a, y, strict=True)], x),
        "normal": lambda ridge, scatter, c: combine(1, ridge, c, scatter),
        "balanced": True,
        "value": thirteen,
    },
    wrong={
        "w = sum alpha_i x_i": {"weight": lambda a, y, x: combination(a, x)},
        "v~ without C": {"normal": lambda ridge, scatter, c: combine(1, ridge, 1, scatter)},
        "v~ = sum alpha_i z~_i / lam": {"normal": lambda ridge, scatter, c: ridge},
        "without (10)": {"balanced": False},
        "Q twice": {
            "value": lambda k, y, z, c, lam: combine(2, hessian(k, y, z, c, lam), -1, signed(k, y))
        },
    },
    instances=60,
    note="(8) is called the Lagrangian of (6); it is that of (7), which is the same problem.",
)
