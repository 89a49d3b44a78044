"""Linear programs in rational numbers: the simplex method with Bland's rule, nothing rounded.

    minimise  c'x   subject to   Ex = f,  Gx <= h,  x free.

The answer carries its proof: multipliers y of the rows with E'y_1 + G'y_2 = -c, y_2 >= 0 and equal
value, a Farkas certificate, or a point and a ray, which `solve` verifies before it returns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

Row = list[Fraction]


@dataclass(frozen=True)
class Answer:
    """What is true of a linear program: ``status`` "optimal", "infeasible" or "unbounded"."""

    status: str
    value: Fraction | None = None
    x: tuple[Fraction, ...] = ()
    y: tuple[Fraction, ...] = ()


def _rows(matrix: Any, width: int) -> list[Row]:
    dense = np.asarray(matrix.toarray() if hasattr(matrix, "toarray") else matrix)
    return [[Fraction(v) for v in row] for row in dense.reshape(-1, width).tolist()]


def solve(c: Any, E: Any, f: Any, G: Any, h: Any) -> Answer:
    """Solve exactly.

    Parameters
    ----------
    c, f, h : arrays of floats, taken as the numbers that they are
    E, G : matrices, (p, n) and (m, n)

    Returns
    -------
    Answer
        Verified: the point and the multipliers prove each other, in rational numbers.
    """
    cost = [Fraction(v) for v in np.asarray(c).tolist()]
    n = len(cost)
    equations, rows = _rows(E, n), _rows(G, n)
    right = [Fraction(v) for v in [*np.asarray(f).tolist(), *np.asarray(h).tolist()]]
    p, m = len(equations), len(rows)
    # x = u - v with u, v >= 0, slacks of the inequalities, an artificial variable in each row
    table: list[Row] = []
    signs: list[int] = []
    for i, row in enumerate(equations + rows):
        slack = [Fraction(int(i - p == j)) for j in range(m)]
        whole = [*row, *(-v for v in row), *slack]
        sign = -1 if right[i] < 0 else 1
        signs.append(sign)
        artificial = [Fraction(int(i == j)) for j in range(p + m)]
        table.append([sign * v for v in whole] + artificial + [sign * right[i]])
    width = 2 * n + m
    basis = [width + i for i in range(p + m)]
    first = [Fraction(0)] * width + [Fraction(1)] * (p + m)
    _, reduced = _pivot(table, basis, first, width + p + m)
    infeasible = -reduced[-1]
    if infeasible > 0:
        y = tuple(s * (r - 1) for s, r in zip(signs, reduced[width:-1], strict=True))
        _prove_infeasible(equations, rows, right, y)
        return Answer("infeasible", y=y)
    second = [*cost, *(-v for v in cost), *[Fraction(0)] * (m + p + m)]
    bounded, reduced = _pivot(table, basis, second, width)
    value = [Fraction(0)] * (width + p + m)
    for row, column in zip(table, basis, strict=True):
        value[column] = row[-1]
    x = tuple(value[j] - value[n + j] for j in range(n))
    _prove_feasible(equations, rows, right, x)
    if not bounded:
        return Answer("unbounded", x=x)
    y = tuple(s * r for s, r in zip(signs, reduced[width:-1], strict=True))
    best = _dot(cost, x)
    _prove_optimal(cost, equations, rows, right, y, best)
    return Answer("optimal", best, x, y)


def _pivot(table: list[Row], basis: list[int], cost: Row, columns: int) -> tuple[bool, Row]:
    """Minimise over the first ``columns``; whether it is bounded, and the reduced costs."""
    reduced = [*cost, Fraction(0)]
    for row, column in zip(table, basis, strict=True):
        if reduced[column]:
            factor = reduced[column]
            reduced = [a - factor * b for a, b in zip(reduced, row, strict=True)]
    # artificial variables that stay in the basis at 0 leave it wherever they can
    while True:
        entering = next((j for j in range(columns) if reduced[j] < 0), None)
        if entering is None:
            return True, reduced
        leaving, best = None, None
        for i, row in enumerate(table):
            stuck = basis[i] >= columns and row[entering] != 0 and row[-1] == 0
            if row[entering] > 0 or stuck:
                ratio = row[-1] / abs(row[entering])
                key = (ratio, basis[i])
                if best is None or key < best:
                    leaving, best = i, key
        if leaving is None:
            return False, reduced
        pivot = table[leaving][entering]
        table[leaving] = [v / pivot for v in table[leaving]]
        for i, row in enumerate(table):
            if i != leaving and row[entering]:
                factor = row[entering]
                table[i] = [a - factor * b for a, b in zip(row, table[leaving], strict=True)]
        factor = reduced[entering]
        reduced = [a - factor * b for a, b in zip(reduced, table[leaving], strict=True)]
        basis[leaving] = entering


def _dot(left: Sequence[Fraction], right: Sequence[Fraction]) -> Fraction:
    return sum((a * b for a, b in zip(left, right, strict=True) if a and b), Fraction(0))


def _require(proven: bool) -> None:
    if not proven:
        raise ArithmeticError("the simplex method returned no proof")


def _prove_feasible(E: list[Row], G: list[Row], right: Row, x: Sequence[Fraction]) -> None:
    p = len(E)
    _require(all(_dot(row, x) == r for row, r in zip(E, right[:p], strict=True)))
    _require(all(_dot(row, x) <= r for row, r in zip(G, right[p:], strict=True)))


def _prove_optimal(
    cost: Row, E: list[Row], G: list[Row], right: Row, y: Sequence[Fraction], value: Fraction
) -> None:
    _require(all(v >= 0 for v in y[len(E) :]))
    for j, c in enumerate(cost):
        _require(c + _dot([row[j] for row in E + G], y) == 0)
    _require(-_dot(right, y) == value)


def _prove_infeasible(E: list[Row], G: list[Row], right: Row, y: Sequence[Fraction]) -> None:
    _require(all(v >= 0 for v in y[len(E) :]))
    for j in range(len((E + G)[0])):
        _require(_dot([row[j] for row in E + G], y) == 0)
    _require(_dot(right, y) < 0)
