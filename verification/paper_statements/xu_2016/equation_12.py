"""Equation (12) and footnote 2: the Woodbury identity."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Function
from verification.paper_statements._svm import (
    Matrix,
    Plus,
    draw_plus,
    draw_rows,
    identity,
    inverse,
    of_plus,
)
from verification.paper_statements.xu_2016 import stated


@of_plus
def _check(
    trial: Trial, p: Plus, *, ratio: Callable[[Fraction, Fraction], Fraction], outer: Function
) -> None:
    left = inverse(p.normal)
    middle = inverse(ratio(p.lam, p.c) * identity(len(p.zt)) + p.kt)
    right = outer(p.lam) * (identity(len(left)) - p.zt.T @ middle @ p.zt)
    trial.exactly(np.array_equal(left, right), "the two sides differ", left=left, right=right)


TWELVE = stated(
    "Equation (12)",
    draw=draw_plus,
    check=_check,
    says={"ratio": lambda lam, c: lam / c, "outer": lambda lam: 1 / lam},
    wrong={
        "C/lam": {"ratio": lambda lam, c: c / lam},
        "lam": {"ratio": lambda lam, c: lam},
        "factor lam": {"outer": lambda lam: lam},
    },
)


def _draw(rng: Rng) -> Inputs:
    n, k = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    while True:  # footnote 2 speaks of matrices with inverses
        shapes = {"a": (n, n), "u": (n, k), "m": (k, k), "v": (k, n)}
        given = {name: np.array(draw_rows(rng, *shape)) for name, shape in shapes.items()}
        try:
            inverse(inverse(given["m"]) + given["v"] @ inverse(given["a"]) @ given["u"])
        except ArithmeticError:
            continue
        return given


def _check_footnote(
    trial: Trial, *, a: Matrix, u: Matrix, m: Matrix, v: Matrix, sign: int, turned: bool
) -> None:
    ai = inverse(a)
    inner = (inverse(m) if turned else m) + v @ ai @ u
    try:
        less = ai @ u @ inverse(inner) @ v @ ai
    except ArithmeticError:
        trial.exactly(False, "the inner matrix has no inverse", inner=inner)
        return
    product = (a + u @ m @ v) @ (ai + sign * less)
    trial.exactly(np.array_equal(product, identity(len(a))), "not the inverse", product=product)


FOOTNOTE = stated(
    "Footnote 2",
    draw=_draw,
    check=_check_footnote,
    says={"sign": -1, "turned": True},
    wrong={"+ for -": {"sign": 1}, "C for C^-1": {"turned": False}},
)
