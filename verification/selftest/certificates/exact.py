"""Rational arithmetic with nothing of the core in it: quadratic programs by their faces, supports by vertices."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import cache
from itertools import combinations
from typing import Any

import numpy as np

from verification.errors import VerificationError

Vector = tuple[Fraction, ...]
#: <g, x> <= h, or = h.
Row = tuple[Vector, Fraction, bool]
Rows = tuple[Row, ...]
Matrix = tuple[Vector, ...]


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


def vector(values: Any) -> Vector:
    """Numbers as they are."""
    return tuple(v if isinstance(v, Fraction) else Fraction(v) for v in np.ravel(values).tolist())


def dot(a: Sequence[Fraction], b: Sequence[Fraction]) -> Fraction:
    """<a, b>."""
    return sum((x * y for x, y in zip(a, b, strict=True)), Fraction(0))


def array(values: Sequence[Fraction]) -> np.ndarray[Any, Any]:
    """An object array, which the formulas of the sets act on without rounding."""
    out = np.empty(len(values), dtype=object)
    out[:] = list(values)
    return out


def floats(values: Sequence[Fraction]) -> np.ndarray[Any, Any]:
    """The nearest floats."""
    return np.array([float(v) for v in values])


def solved(A: list[list[Fraction]], b: list[Fraction]) -> list[Fraction] | None:
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


def violation(rows: Rows, x: Sequence[Fraction]) -> Fraction:
    """By how much x misses the worst row."""
    off = [(dot(g, x) - h, equality) for g, h, equality in rows]
    return max((Fraction(0), *(abs(v) if equality else v for v, equality in off)))


@cache
def minimum(H: Matrix, c: Vector, rows: Rows) -> tuple[Vector, Fraction]:
    """The minimiser of 1/2 x'Hx - <c, x> for a positive definite H, and the minimum."""
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
            return x, quadratic(H, c, x)
    raise VerificationError("no face of the polytope has a minimiser")


def quadratic(H: Matrix, c: Vector, x: Vector) -> Fraction:
    """1/2 x'Hx - <c, x>."""
    return dot(x, [dot(row, x) for row in H]) / 2 - dot(c, x)


@cache
def vertices(rows: Rows) -> tuple[Vector, ...]:
    """The vertices of a polytope."""
    d, found = len(rows[0][0]), []
    for active in faces(rows, d):
        if len(active) == d and (
            x := solved([list(g) for g, _, _ in active], [h for _, h, _ in active])
        ):
            found += [tuple(x)] if violation(rows, x) == 0 else []
    return tuple(dict.fromkeys(found))


def support(rows: Rows, w: Vector) -> Fraction:
    """Max <w, x> over a polytope."""
    return max(dot(w, x) for x in vertices(rows))


def form(d: int, square: Fraction, of_sum: Fraction = Fraction(0)) -> Matrix:
    """The matrix of square ||x||^2 + of_sum <1,x>^2."""
    return tuple(tuple(square * (i == j) + of_sum for j in range(d)) for i in range(d))


Draw = Callable[..., Any]


def eighths(rng: np.random.Generator, size: int, reach: int = 16) -> Vector:
    """Multiples of 1/8, among which ties are frequent."""
    return tuple(Fraction(int(v), 8) for v in rng.integers(-reach, reach + 1, size))
