"""Equations (8) to (11) and (13): the Lagrangian, where it is stationary, its value there."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import draw_vector
from verification.paper_statements._svm import (
    Labels,
    Matrix,
    Plus,
    Vector,
    draw_balanced,
    draw_plus,
    identity,
    inverse,
    of_plus,
)
from verification.paper_statements.xu_2016 import stated
from verification.paper_statements.xu_2016.equation_5 import printed

#: (alpha, y, X) -> w
Recovery = Callable[[Vector, Labels, Matrix], Vector]
#: (lam I, Z~Z~', C) -> the matrix whose inverse gives v~
Normal = Callable[[Matrix, Matrix, Fraction], Matrix]


def lagrangian(p: Plus, u: Vector, alpha: Vector) -> Fraction:
    """(8) at u = [w, b, v~]."""
    d = p.x.shape[1]
    w, b, vt = u[:d], u[d], u[d + 1 :]
    xi = p.zt @ vt
    return p.value(w, vt, xi) - alpha @ (p.margins(w, b) - 1 + xi)


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
    value: Callable[[Plus], Matrix],
) -> None:
    if not balanced:
        alpha = np.array([abs(v) + i for i, v in enumerate(other)])
    system = normal(p.lam * identity(p.zt.shape[1]), p.zt.T @ p.zt, p.c)
    u = np.array([*weight(alpha, p.y, p.x), b, *inverse(system) @ (alpha @ p.zt)])
    slopes = [  # central differences are exact: (8) is quadratic
        (lagrangian(p, u + step, alpha) - lagrangian(p, u - step, alpha)) / 2
        for step in identity(len(u))
    ]
    trial.exactly(not any(slopes), "the Lagrangian is not stationary", slopes=slopes)
    found = lagrangian(p, u, alpha)
    said = sum(alpha) - alpha @ value(p) @ alpha / 2
    trial.exactly(found == said, "another value", lagrangian=found, said=said)


def thirteen(p: Plus) -> Matrix:
    """The quadratic form of (13), with Q as printed."""
    return p.ky + printed(p.kt, p.c, p.lam)


STATIONARY = stated(
    "Equations (8), (9), (10), (11) and (13)",
    draw=_draw,
    check=_check,
    says={
        "weight": lambda a, y, x: a * y @ x,
        "normal": lambda ridge, scatter, c: ridge + c * scatter,
        "balanced": True,
        "value": thirteen,
    },
    wrong={
        "w = sum alpha_i x_i": {"weight": lambda a, y, x: a @ x},
        "v~ without C": {"normal": lambda ridge, scatter, c: ridge + scatter},
        "v~ = sum alpha_i z~_i / lam": {"normal": lambda ridge, scatter, c: ridge},
        "without (10)": {"balanced": False},
        "Q twice": {"value": lambda p: 2 * p.h - p.ky},
    },
)
