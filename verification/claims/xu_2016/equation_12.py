"""Equation (12) and footnote 2: the Woodbury identity."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from verification.claims import Claim, Inputs, Rng, Trial
from verification.claims._rational import Matrix, scale
from verification.claims._svm import (
    Plus,
    combine,
    draw_plus,
    draw_rows,
    gram,
    identity,
    inverse,
    multiply,
    of_plus,
    transpose,
)


@of_plus
def _check(
    trial: Trial,
    p: Plus,
    *,
    ratio: Callable[[Fraction, Fraction], Fraction],
    outer: Callable[[Fraction], Fraction],
) -> None:
    unit = identity(len(p.zt[0]))
    left = inverse(combine(p.lam, unit, p.c, multiply(transpose(p.zt), p.zt)))
    middle = inverse(combine(ratio(p.lam, p.c), identity(len(p.zt)), 1, gram(p.zt)))
    less = multiply(multiply(transpose(p.zt), middle), p.zt)
    right = [scale(outer(p.lam), row) for row in combine(1, unit, -1, less)]
    trial.exactly(left == right, "the two sides differ", left=left, right=right)


TWELVE = Claim(
    number="Equation (12)",
    section="3",
    statement="(lam I + C Z~Z~')^-1 = (I - Z~(lam/C I + Z~'Z~)^-1 Z~')/lam",
    method="random matrices, rational",
    draw=draw_plus,
    check=_check,
    says={"ratio": lambda lam, c: lam / c, "outer": lambda lam: 1 / lam},
    wrong={
        "C/lam": {"ratio": lambda lam, c: c / lam},
        "lam": {"ratio": lambda lam, c: lam},
        "factor lam": {"outer": lambda lam: lam},
    },
    instances=60,
)


def _draw(rng: Rng) -> Inputs:
    n, k = int(rng.integers(1, 4)), int(rng.integers(1, 4))
    while True:  # footnote 2 speaks of matrices with inverses
        given = {
            "a": draw_rows(rng, n, n),
            "u": draw_rows(rng, n, k),
            "m": draw_rows(rng, k, k),
            "v": draw_rows(rng, k, n),
        }
        try:
            inner = multiply(multiply(given["v"], inverse(given["a"])), given["u"])
            inverse(combine(1, inverse(given["m"]), 1, inner))
        except ArithmeticError:
            continue
        return given


def _check_footnote(
    trial: Trial, *, a: Matrix, u: Matrix, m: Matrix, v: Matrix, sign: int, turned: bool
) -> None:
    ai = inverse(a)
    inner = combine(1, inverse(m) if turned else m, 1, multiply(multiply(v, ai), u))
    try:
        less = multiply(multiply(multiply(ai, u), inverse(inner)), multiply(v, ai))
    except ArithmeticError:
        trial.exactly(False, "the inner matrix has no inverse", inner=inner)
        return
    product = multiply(combine(1, a, 1, multiply(multiply(u, m), v)), combine(1, ai, sign, less))
    trial.exactly(product == identity(len(a)), "not the inverse", product=product)


FOOTNOTE = Claim(
    number="Footnote 2",
    section="3",
    statement="(A + UCV)^-1 = A^-1 - A^-1 U (C^-1 + V A^-1 U)^-1 V A^-1 if A, C and the inner "
    "matrix have inverses",
    method="random matrices, product with A + UCV, rational",
    draw=_draw,
    check=_check_footnote,
    says={"sign": -1, "turned": True},
    wrong={"+ for -": {"sign": 1}, "C for C^-1": {"turned": False}},
    instances=60,
)
