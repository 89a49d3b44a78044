"""Rational arithmetic for the claims: linear programs with certificates, vertices, random numbers.

Everything here works on lists of `fractions.Fraction`, knows nothing of top-k sets, and proves its
own answers: a linear program returns only after its dual point (or its ray) has been checked.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations
from math import lcm
from typing import Any

import numpy as np

from verification.paper_statements._trial import Rng

Vector = list[Fraction]
Matrix = list[Vector]
#: The same for formulas, where numpy's operations stand for those of linear algebra.
Array = np.ndarray[Any, Any]
Numbers = Sequence[Fraction] | Array
Function = Callable[[Fraction], Fraction]
Relation = Callable[[Fraction, Fraction], bool]


def vector(*values: int | str | Fraction) -> Vector:
    """Exact vector from integers or texts such as "1/3" and "-.9"."""
    return [Fraction(value) for value in values]


def dot(u: Numbers, v: Numbers) -> Fraction:
    """Inner product."""
    return sum((a * b for a, b in zip(u, v, strict=True)), Fraction(0))


def add(u: Sequence[Fraction], v: Sequence[Fraction]) -> Vector:
    """Sum of two vectors."""
    return [a + b for a, b in zip(u, v, strict=True)]


def scale(t: Fraction | int, u: Sequence[Fraction]) -> Vector:
    """Multiple of a vector."""
    return [t * a for a in u]


def square(u: Numbers) -> Fraction:
    """Squared Euclidean norm."""
    return dot(u, u)


def without(u: Sequence[Fraction], j: int) -> Vector:
    """The vector without coordinate j."""
    return [*u[:j], *u[j + 1 :]]


def put(u: Sequence[Fraction], j: int, value: Fraction | int = 0) -> Vector:
    """The vector with one more coordinate, `value`, at place j."""
    return [*u[:j], Fraction(value), *u[j:]]


def draw_vector(rng: Rng, size: int, spread: int = 6, denominator: int = 2) -> Vector:
    """Random multiples of 1/denominator in [-spread, spread]; coarse, so that ties are common."""
    numerators = rng.integers(-spread * denominator, spread * denominator + 1, size)
    return [Fraction(int(v), denominator) for v in numerators]


def draw_weights(rng: Rng, size: int) -> Vector:
    """Random convex weights, some of them 0."""
    raw = [int(v) for v in rng.integers(0, 4, size)]
    raw[int(rng.integers(size))] += 1
    return [Fraction(v, sum(raw)) for v in raw]


def draw_mixture(rng: Rng, points: Matrix) -> Vector:
    """Random convex combination of the points."""
    found: Vector = (np.array(draw_weights(rng, len(points))) @ np.array(points)).tolist()
    return found


def solve(a: Matrix, b: Vector) -> Vector | None:
    """Solution of a square linear system, None if it is singular."""
    rows = []
    for row, rhs in zip(a, b, strict=True):  # integers only, no fractions to reduce
        unit = lcm(*(v.denominator for v in [*row, rhs]))
        rows.append([v.numerator * (unit // v.denominator) for v in [*row, rhs]])
    n = len(rows)
    divisor = 1
    for col in range(n):
        found = next((r for r in range(col, n) if rows[r][col]), None)
        if found is None:
            return None
        rows[col], rows[found] = rows[found], rows[col]
        pivot = rows[col][col]
        for r in range(n):
            if r != col:
                factor = rows[r][col]
                rows[r] = [
                    (pivot * v - factor * w) // divisor
                    for v, w in zip(rows[r], rows[col], strict=True)
                ]
        divisor = pivot
    return [Fraction(rows[i][n], rows[i][i]) for i in range(n)]


def vertices(a: Matrix, b: Vector) -> set[tuple[Fraction, ...]]:
    """Vertices of {x : a x <= b}, by trying every choice of active constraints."""
    n = len(a[0])
    found: set[tuple[Fraction, ...]] = set()
    for active in combinations(range(len(a)), n):
        x = solve([a[i] for i in active], [b[i] for i in active])
        if x is not None and all(dot(row, x) <= rhs for row, rhs in zip(a, b, strict=True)):
            found.add(tuple(x))
    return found


def _prove(holds: bool) -> None:
    """Raise if a certificate of this module does not hold (an error in the module itself)."""
    if not holds:
        raise ArithmeticError("an exact optimality certificate does not hold")


@dataclass(frozen=True)
class Optimum:
    """Maximum of a linear program: `value` is None if it is unbounded, and then `x` is a ray."""

    value: Fraction | None
    x: Vector


def maximise(c: Vector, a: Matrix, b: Vector) -> Optimum:
    """Maximise <c,x> over {x : a x <= b}, x free, for b >= 0 (so that x = 0 is feasible).

    Simplex method with Bland's rule on an integer tableau. Before it returns, the answer is proved:
    by a dual point of equal value, or by a ray of the feasible set along which <c,.> increases.
    """
    m, n = len(a), len(c)
    cost_scale = lcm(*(v.denominator for v in c))
    row_scale = [lcm(*(v.denominator for v in [*row, rhs])) for row, rhs in zip(a, b, strict=True)]
    # Columns: x = p - q with p, q >= 0, then the slacks, then the right-hand side.
    table = np.zeros((m + 1, 2 * n + m + 1), dtype=object)
    table[0, :n] = [int(-v * cost_scale) for v in c]
    for i, (row, rhs) in enumerate(zip(a, b, strict=True)):
        table[i + 1, :n] = [int(v * row_scale[i]) for v in row]
        table[i + 1, [2 * n + i, -1]] = 1, int(rhs * row_scale[i])
    table[:, n : 2 * n] = -table[:, :n]
    basis = [2 * n + i for i in range(m)]
    divisor = 1  # the true tableau is table / divisor: integers only, no fractions to reduce

    def point(columns: dict[int, Fraction]) -> Vector:
        zero = Fraction(0)
        return [columns.get(j, zero) - columns.get(n + j, zero) for j in range(n)]

    while True:
        entering = next((j for j, v in enumerate(table[0, :-1]) if v < 0), None)
        if entering is None:
            break
        rows = [i for i in range(1, m + 1) if table[i, entering] > 0]
        if not rows:
            step = {basis[i - 1]: Fraction(-table[i, entering], divisor) for i in range(1, m + 1)}
            ray = point({**step, entering: Fraction(1)})
            _prove(all(dot(row, ray) <= 0 for row in a) and dot(c, ray) > 0)
            return Optimum(None, ray)
        r = min(rows, key=lambda i: (Fraction(table[i, -1], table[i, entering]), basis[i - 1]))
        pivot, others = table[r, entering], np.arange(m + 1) != r
        less = np.outer(table[others, entering], table[r])
        table[others] = (pivot * table[others] - less) // divisor
        divisor = pivot
        basis[r - 1] = entering

    x = point({basis[i - 1]: Fraction(table[i, -1], divisor) for i in range(1, m + 1)})
    y = [Fraction(table[0, 2 * n + i] * row_scale[i], divisor * cost_scale) for i in range(m)]
    value = dot(c, x)
    _prove(all(dot(row, x) <= rhs for row, rhs in zip(a, b, strict=True)))
    _prove(min(y, default=Fraction(0)) >= 0 and dot(y, b) == value)
    _prove(all(dot(y, [row[j] for row in a]) == c[j] for j in range(n)))
    return Optimum(value, x)
