"""Equation (5) in double precision, as printed and as a product of triangular factors."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from verification.claims import Claim, Trial
from verification.claims._rational import vector
from verification.claims._svm import ONE, Matrix, augmented, deformed

Floats = list[list[float]]


def _inverse_of_floats(a: Floats) -> Floats:
    """Gauss-Jordan with row exchanges, in double precision."""
    n = len(a)
    rows = [[*row, *(float(i == j) for j in range(n))] for i, row in enumerate(a)]
    for col in range(n):
        best = max(range(col, n), key=lambda r: abs(rows[r][col]))
        rows[col], rows[best] = rows[best], rows[col]
        rows[col] = [v / rows[col][col] for v in rows[col]]
        for r in range(n):
            if r != col:
                factor = rows[r][col]
                rows[r] = [v - factor * u for v, u in zip(rows[r], rows[col], strict=True)]
    return [row[n:] for row in rows]


def _product(a: Floats, b: Floats) -> Floats:
    columns = list(zip(*b, strict=True))
    return [
        [sum(u * v for u, v in zip(row, column, strict=True)) for column in columns] for row in a
    ]


def printed_in_floats(zt: Floats, c: float, lam: float) -> Floats:
    """(5) step by step in double precision."""
    n = len(zt)
    kt = _product(zt, [list(column) for column in zip(*zt, strict=True)])
    middle = _inverse_of_floats(
        [[kt[i][j] + (lam / c if i == j else 0.0) for j in range(n)] for i in range(n)]
    )
    less = _product(_product(kt, middle), kt)
    return [[(kt[i][j] - less[i][j]) / lam for j in range(n)] for i in range(n)]


def factored_in_floats(zt: Floats, c: float, lam: float) -> Floats:
    """FF' with F = Z~ L^-T, LL' = lam I + C Z~'Z~, in double precision."""
    size = len(zt[0])
    lower = [[0.0] * size for _ in range(size)]
    for i in range(size):
        for j in range(i + 1):
            v = c * sum(row[i] * row[j] for row in zt) + (lam if i == j else 0.0)
            v -= sum(lower[i][k] * lower[j][k] for k in range(j))
            lower[i][j] = v**0.5 if i == j else v / lower[j][j]
    factor = []
    for row in zt:
        f: list[float] = []
        for i in range(size):
            f.append((row[i] - sum(lower[i][k] * f[k] for k in range(i))) / lower[i][i])
        factor.append(f)
    return _product(factor, [list(column) for column in zip(*factor, strict=True)])


def _check_floats(
    trial: Trial,
    *,
    z: Matrix,
    c: Fraction,
    lam: Fraction,
    evaluate: Callable[[Floats, float, float], Floats],
) -> None:
    zt = augmented(np.array(z))
    exact = deformed(zt @ zt.T, c, lam)
    found = evaluate(zt.astype(float).tolist(), float(c), float(lam))
    error = np.array([[Fraction(v) for v in row] for row in found]) - exact
    relative = np.abs(error).max() / np.abs(exact).max()
    trial.exactly(
        relative <= Fraction(1, 10**12),
        "the relative error in double precision is larger than 1e-12",
        about=f"{float(relative):.1e}",
    )


FLOATS_PRINTED = Claim(
    number="Equation (5), in double precision",
    section="3",
    statement="(5) can be evaluated as it stands, with one matrix inversion: twelve digits of Q are "
    "right",
    method="(5) step by step in double precision against rational arithmetic",
    expected="refuted",
    check=_check_floats,
    says={"evaluate": printed_in_floats},
    right={"evaluate": factored_in_floats},
    witnesses=(
        {"z": [vector(30), vector(70), vector(-110)], "c": Fraction(10**6), "lam": ONE},
        {"z": [vector(3), vector(7), vector(-11)], "c": Fraction(10**10), "lam": ONE},
    ),
    note="The paper says of the inversion that it is fast, and nothing of rounding. K~/lam is C/lam "
    "times larger than Q = O(1/C): the difference cancels. FF' with F = Z~L^-T, "
    "LL' = lam I + C Z~'Z~, does not.",
)
