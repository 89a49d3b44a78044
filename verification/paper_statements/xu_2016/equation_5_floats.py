"""Equation (5) in double precision, as printed and as a product of triangular factors."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

import numpy as np
from scipy.linalg import solve_triangular

from verification.paper_statements import Trial
from verification.paper_statements._rational import vector
from verification.paper_statements._svm import ONE, Matrix, augmented, deformed
from verification.paper_statements.xu_2016 import stated

Floats = np.ndarray[Any, np.dtype[np.float64]]


def _inverse_of_floats(a: Floats) -> Floats:
    """Gauss-Jordan with row exchanges, in double precision."""
    n = len(a)
    rows = np.hstack([a, np.eye(n)])
    for col in range(n):
        best = col + int(np.argmax(abs(rows[col:, col])))
        rows[[col, best]] = rows[[best, col]]
        rows[col] /= rows[col, col]
        others = np.arange(n) != col
        rows[others] -= np.outer(rows[others, col], rows[col])
    return rows[:, n:]


def _product(a: Floats, b: Floats) -> Floats:
    """Matrix product, summed in order, the same on every machine."""
    found: Floats = (a[:, :, None] * b).sum(axis=1)
    return found


def printed_in_floats(zt: Floats, c: float, lam: float) -> Floats:
    """(5) step by step in double precision."""
    kt = _product(zt, zt.T)
    middle = _inverse_of_floats(kt + lam / c * np.eye(len(kt)))
    return (kt - _product(_product(kt, middle), kt)) / lam


def factored_in_floats(zt: Floats, c: float, lam: float) -> Floats:
    """FF' with F = Z~ L^-T, LL' = lam I + C Z~'Z~, in double precision."""
    lower = np.linalg.cholesky(c * _product(zt.T, zt) + lam * np.eye(zt.shape[1]))
    factor = solve_triangular(lower, zt.T, lower=True).T
    return _product(factor, factor.T)


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
    found = evaluate(zt.astype(float), float(c), float(lam))
    error = np.vectorize(Fraction, otypes=[object])(found) - exact
    relative = np.abs(error).max() / np.abs(exact).max()
    trial.exactly(
        relative <= Fraction(1, 10**12),
        "the relative error in double precision is larger than 1e-12",
        about=f"{float(relative):.1e}",
    )


FLOATS_PRINTED = stated(
    "Equation (5), in double precision",
    check=_check_floats,
    says={"evaluate": printed_in_floats},
    right={"evaluate": factored_in_floats},
    witnesses=(
        {"z": [vector(30), vector(70), vector(-110)], "c": Fraction(10**6), "lam": ONE},
        {"z": [vector(3), vector(7), vector(-11)], "c": Fraction(10**10), "lam": ONE},
    ),
)
