"""Rational arithmetic with nothing of the core in it: quadratic programs by their faces, supports by vertices."""

from collections.abc import Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from verification.errors import VerificationError

#: Fractions in an array of objects, on which numpy computes without rounding.
Vector = np.ndarray[Any, Any]
Matrix = Vector
#: <g, x> <= h, or = h.
Row = tuple[tuple[Fraction, ...], Fraction, bool]
Rows = tuple[Row, ...]


class RefutedError(VerificationError):
    """A certificate is wrong: the message says what it claims, and what is true."""


def require(holds: bool, *said: object) -> None:
    """`RefutedError` unless it holds."""
    if not holds:
        raise RefutedError(" ".join(str(s) for s in said))


def close(claimed: Any, true: Any, scale: float, what: str, eps: float = 1e-14) -> None:
    """``claimed`` is ``true`` up to rounding on a scale."""
    off = abs(float(Fraction(float(claimed)) - Fraction(true)))
    require(off <= eps * (1 + scale), f"{what} is {float(claimed)!r}, and {float(true)!r} is right")


def bounded(bound: Any, true: Any, scale: float, what: str, eps: float = 1e-17) -> None:
    """``bound`` is not below ``true``, but for rounding in the data of the test itself."""
    if bound != np.inf:
        short = float(Fraction(true) - Fraction(float(bound)))
        require(short <= eps * (1 + scale), f"{what} is bounded by {bound!r}, and {float(true)!r}")


def array(values: Any) -> Vector:
    """Fractions as an array."""
    return np.array(values, dtype=object)


def vector(values: Any) -> Vector:
    """Numbers as they are."""
    flat = [Fraction(*v.as_integer_ratio()) for v in np.ravel(values).tolist()]
    return array(flat).reshape(np.shape(values))


def floats(values: Any) -> np.ndarray[Any, Any]:
    """The nearest floats."""
    return array(values).astype(float)


def solved(A: Any, b: Any) -> list[Fraction] | None:
    """The solution of a linear system, None if there is not one."""
    work = [[*row, right] for row, right in zip(A, b, strict=True)]
    n = len(work)
    for i in range(n):
        pivot = next((j for j in range(i, n) if work[j][i] != 0), None)
        if pivot is None:
            return None
        work[i], work[pivot] = work[pivot], work[i]
        for j in range(n):
            if j != i and work[j][i] != 0:
                share = work[j][i] / work[i][i]
                work[j] = [x - share * y for x, y in zip(work[j], work[i], strict=True)]
    return [work[i][n] / work[i][i] for i in range(n)]


def faces(rows: Rows, most: int) -> Iterator[tuple[Row, ...]]:
    """The equations, with every choice of inequalities beside them."""
    equal, free = [r for r in rows if r[2]], [r for r in rows if not r[2]]
    for size in range(most - len(equal) + 1):
        for chosen in combinations(free, size):
            yield (*equal, *chosen)


def violation(rows: Rows, x: Any) -> Fraction:
    """By how much x misses the worst row."""
    off = [(array(g) @ array(x) - h, equality) for g, h, equality in rows]
    return max((Fraction(0), *(abs(v) if equality else v for v, equality in off)))


def minimum(H: Any, c: Any, rows: Any) -> tuple[Vector, Fraction]:
    """The minimiser of 1/2 x'Hx - <c, x> for a positive definite H, and the minimum."""
    key = tuple(map(tuple, H)), tuple(c), tuple((tuple(g), h, e) for g, h, e in rows)
    x = array(_minimiser(*key))
    return x, quadratic(H, c, x)


@cache
def _minimiser(H: Any, c: Any, rows: Rows) -> tuple[Fraction, ...]:
    d = len(c)
    for active in faces(rows, d):
        kkt = [[*H[i], *(g[i] for g, _, _ in active)] for i in range(d)]
        kkt += [[*g, *[Fraction(0)] * len(active)] for g, _, _ in active]
        found = solved(kkt, [*c, *(h for _, h, _ in active)])
        if found is None:
            continue
        x, prices = tuple(found[:d]), found[d:]
        right = all(
            price >= 0 or equality for price, (_, _, equality) in zip(prices, active, strict=True)
        )
        if right and violation(rows, x) == 0:
            return x
    raise VerificationError("no face of the polytope has a minimiser")


def quadratic(H: Any, c: Any, x: Vector) -> Fraction:
    """1/2 x'Hx - <c, x>."""
    return Fraction(x @ array(H) @ x / 2 - array(c) @ x)


@cache
def vertices(rows: Rows) -> tuple[tuple[Fraction, ...], ...]:
    """The vertices of a polytope."""
    d, found = len(rows[0][0]), []
    for active in faces(rows, d):
        if len(active) == d and (
            x := solved([list(g) for g, _, _ in active], [h for _, h, _ in active])
        ):
            found += [tuple(x)] if violation(rows, x) == 0 else []
    return tuple(dict.fromkeys(found))


def support(rows: Rows, w: Any) -> Fraction:
    """Max <w, x> over a polytope."""
    return Fraction(max(array(vertices(rows)) @ array(w)))


def form(d: int, square: Fraction, of_sum: Fraction = Fraction(0)) -> Matrix:
    """The matrix of square ||x||^2 + of_sum <1,x>^2."""
    return array([[square * (i == j) + of_sum for j in range(d)] for i in range(d)])


def eighths(rng: np.random.Generator, size: int, reach: int = 16) -> Vector:
    """Multiples of 1/8, among which ties are frequent."""
    return vector(rng.integers(-reach, reach + 1, size) / 8)
