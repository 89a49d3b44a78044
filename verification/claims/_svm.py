"""Exact SVM+: rational kernels, and quadratic programs solved by trying every support.

Independent of the oracle and of the solvers. A solution is returned only with multipliers that
satisfy the KKT conditions in rational arithmetic, so that it needs no further proof.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, wraps
from itertools import combinations
from typing import Any

from verification.claims._rational import (
    Matrix,
    Vector,
    dot,
    draw_vector,
    maximise,
    scale,
    solve,
    square,
)
from verification.claims._trial import Inputs, Rng, Trial

ZERO, ONE, HALF = Fraction(0), Fraction(1), Fraction(1, 2)
Labels = Sequence[int]


# ------------------------------------------------------------------------------------- matrices


def transpose(a: Matrix) -> Matrix:
    """Rows as columns."""
    return [list(column) for column in zip(*a, strict=True)]


def apply(a: Matrix, u: Vector) -> Vector:
    """Matrix times vector."""
    return [dot(row, u) for row in a]


def multiply(a: Matrix, b: Matrix) -> Matrix:
    """Matrix product."""
    columns = transpose(b)
    return [apply(columns, row) for row in a]


def combine(s: Fraction | int, a: Matrix, t: Fraction | int, b: Matrix) -> Matrix:
    """The matrix s a + t b."""
    return [[s * u + t * v for u, v in zip(*rows, strict=True)] for rows in zip(a, b, strict=True)]


def identity(n: int) -> Matrix:
    """Unit matrix."""
    return [[Fraction(i == j) for j in range(n)] for i in range(n)]


def inverse(a: Matrix) -> Matrix:
    """Inverse of a regular matrix."""
    columns = [solve(a, unit) for unit in identity(len(a))]
    found = [column for column in columns if column is not None]
    if len(found) < len(a):
        raise ArithmeticError("the matrix is singular")
    return transpose(found)


def gram(rows: Matrix) -> Matrix:
    """Linear kernel matrix."""
    return [[dot(u, v) for v in rows] for u in rows]


def signed(k: Matrix, y: Labels) -> Matrix:
    """The matrix y_i y_j K_ij."""
    return [[a * b * v for b, v in zip(y, row, strict=True)] for a, row in zip(y, k, strict=True)]


def quadratic(h: Matrix, u: Vector) -> Fraction:
    """Value of u'Hu."""
    return dot(u, apply(h, u))


def semidefinite(a: Matrix) -> bool:
    """Whether a symmetric matrix is positive semidefinite, by elimination."""
    rest = a
    while rest:
        pivot, head = rest[0][0], rest[0][1:]
        if pivot < 0 or (pivot == 0 and any(head)):
            return False
        below = [row[1:] for row in rest[1:]]
        if pivot > 0:
            below = [
                [v - s * t / pivot for v, t in zip(row, head, strict=True)]
                for row, s in zip(below, head, strict=True)
            ]
        rest = below
    return True


def combination(weights: Vector, rows: Matrix) -> Vector:
    """Sum of the rows, weighted."""
    return apply(transpose(rows), weights)


# ------------------------------------------------------------------------------ correcting space


def augmented(z: Matrix) -> Matrix:
    """z~ = [z; 1]."""
    return [[*row, ONE] for row in z]


def deformed(kt: Matrix, c: Fraction, lam: Fraction, weights: Vector | None = None) -> Matrix:
    """Q = (lam I + C K~ W)^-1 K~, from the least-squares problem in v~ and not from (5)."""
    n = len(kt)
    weights = weights or [ONE] * n
    system = [[lam * (i == j) + c * kt[i][j] * weights[j] for j in range(n)] for i in range(n)]
    return multiply(inverse(system), kt)


# ---------------------------------------------------------------------------- quadratic programs


@dataclass(frozen=True)
class Point:
    """A KKT point of min 1/2 a'Ha - p'a, a >= 0, Ea = r; `mult` belongs to the equations."""

    value: Fraction
    a: Vector
    mult: Vector


def kkt_points(h: Matrix, p: Vector, e: Matrix, r: Vector) -> Iterator[Point]:
    """All KKT points with a regular system on their support; H symmetric.

    For a positive semidefinite H every one is a solution, and if the equations restricted to the
    support of every solution have full rank (here: both classes), each vertex of the set of
    solutions is among them: its columns of (H, E) are independent.
    """
    n, m = len(p), len(e)
    for size in range(n + 1):
        for support in combinations(range(n), size):
            rows = [[*(h[i][j] for j in support), *(e[k][i] for k in range(m))] for i in support]
            rows += [[*(e[k][j] for j in support), *[ZERO] * m] for k in range(m)]
            found = solve(rows, [*(p[i] for i in support), *r])
            if found is None or any(v < 0 for v in found[:size]):
                continue
            a = [ZERO] * n
            for i, v in zip(support, found[:size], strict=True):
                a[i] = v
            mult = found[size:]
            slope = [
                v - p[i] + sum((mult[k] * e[k][i] for k in range(m)), ZERO)
                for i, v in enumerate(apply(h, a))
            ]
            if all(v >= 0 for v in slope):
                yield Point(quadratic(h, a) / 2 - dot(p, a), a, mult)


def minimum(h: Matrix, p: Vector, e: Matrix, r: Vector) -> Point | None:
    """One solution for a positive semidefinite H; None if there is none (see `ray`)."""
    return next(kkt_points(h, p, e, r), None)


def solution(h: Matrix, p: Vector, e: Matrix, r: Vector) -> Point:
    """One solution; an error if there is none."""
    found = minimum(h, p, e, r)
    if found is None:
        raise ArithmeticError("no KKT point")
    return found


def svm_dual(h: Matrix, y: Labels) -> Point:
    """Solution of min 1/2 a'Ha - 1'a, a >= 0, a'y = 0: problem (4)."""
    return solution(h, [ONE] * len(y), [[Fraction(v) for v in y]], [ZERO])


def ray(h: Matrix, y: Labels) -> Vector | None:
    """A direction along which (4) falls without bound, for a positive semidefinite H; else None.

    Such an a >= 0 with a'y = 0, Ha = 0 and 1'a > 0 proves that the primal is infeasible.
    """
    n = len(y)
    equations = [*h, [Fraction(v) for v in y]]
    rows = [*equations, *(scale(-1, row) for row in [*equations, *identity(n)]), [ONE] * n]
    best = maximise([ONE] * n, rows, [ZERO] * (len(rows) - 1) + [ONE])
    return best.x if best.value else None


def blocks(a: Matrix, b: Matrix, d: Matrix) -> Matrix:
    """The symmetric matrix [a b; b' d]."""
    top = [[*u, *v] for u, v in zip(a, b, strict=True)]
    return top + [[*u, *v] for u, v in zip(transpose(b), d, strict=True)]


# --------------------------------------------------------------------------------------- problems


def margins(x: Matrix, y: Labels, w: Vector, b: Fraction) -> Vector:
    """y_i (w'x_i + b)."""
    return [label * (dot(w, row) + b) for label, row in zip(y, x, strict=True)]


@dataclass(frozen=True)
class Solved:
    """Solution of (3): its value is proved by equality of primal and dual."""

    value: Fraction
    w: Vector
    b: Fraction
    vt: Vector
    xi: Vector
    alpha: Vector


def primal_squared(
    w: Vector, vt: Vector, xi: Vector, c: Fraction, lam: Fraction, weights: Vector | None = None
) -> Fraction:
    """Objective of (3), or its weighted form."""
    loss = dot(weights or [ONE] * len(xi), [v * v for v in xi])
    return (square(w) + c * loss + lam * square(vt)) / 2


def solve_squared(
    x: Matrix, y: Labels, z: Matrix, c: Fraction, lam: Fraction, weights: Vector | None = None
) -> Solved:
    """Problem (3), optionally weighted; proved by a feasible point of the dual's value."""
    zt = augmented(z)
    q = deformed(gram(zt), c, lam, weights)
    point = svm_dual(combine(1, signed(gram(x), y), 1, q), y)
    w = combination([a * v for a, v in zip(point.a, y, strict=True)], x)
    ws = weights or [ONE] * len(y)
    scatter = multiply(transpose(zt), [scale(t, row) for t, row in zip(ws, zt, strict=True)])
    normal = combine(lam, identity(len(scatter)), c, scatter)
    vt = apply(inverse(normal), combination(point.a, zt))
    xi = apply(zt, vt)
    value = primal_squared(w, vt, xi, c, lam, weights)
    b = point.mult[0]
    feasible = all(m + v >= 1 for m, v in zip(margins(x, y, w, b), xi, strict=True))
    if not feasible or value != -point.value:
        raise ArithmeticError("an exact optimality certificate does not hold")
    return Solved(value, w, b, vt, xi, point.a)


@dataclass(frozen=True)
class Plus:
    """Training triplets with C and lam, and what (3) to (5) make of them."""

    x: Matrix
    y: Labels
    z: Matrix
    c: Fraction
    lam: Fraction

    @cached_property
    def zt(self) -> Matrix:
        """Z~."""
        return augmented(self.z)

    @cached_property
    def k(self) -> Matrix:
        """Linear kernel of the main features."""
        return gram(self.x)

    @cached_property
    def ky(self) -> Matrix:
        """K . yy'."""
        return signed(self.k, self.y)

    @cached_property
    def q(self) -> Matrix:
        """Q, the deformed kernel."""
        return deformed(gram(self.zt), self.c, self.lam)

    @cached_property
    def h(self) -> Matrix:
        """K . yy' + Q: the matrix of (4)."""
        return combine(1, self.ky, 1, self.q)

    @cached_property
    def normal(self) -> Matrix:
        """Matrix of v~: lam I + C Z~Z~'."""
        scatter = multiply(transpose(self.zt), self.zt)
        return combine(self.lam, identity(len(scatter)), self.c, scatter)

    @property
    def balance(self) -> Matrix:
        """The equation y'alpha = 0."""
        return [[Fraction(t) for t in self.y]]

    @cached_property
    def solved(self) -> Solved:
        """Solution of (3)."""
        return solve_squared(self.x, self.y, self.z, self.c, self.lam)

    def w(self, alpha: Vector) -> Vector:
        """Sum of alpha_i y_i x_i."""
        return combination([a * t for a, t in zip(alpha, self.y, strict=True)], self.x)

    def vt(self, weights: Vector) -> Vector:
        """The v~ of (lam I + C Z~Z~') v~ = Z~ weights."""
        return apply(inverse(self.normal), combination(weights, self.zt))

    def value(self, w: Vector, vt: Vector, xi: Vector) -> Fraction:
        """Objective of (3)."""
        return primal_squared(w, vt, xi, self.c, self.lam)

    def feasible(self, w: Vector, b: Fraction, xi: Vector) -> bool:
        """Whether the margins are at least 1 - xi."""
        m = margins(self.x, self.y, w, b)
        return all(u + t >= 1 for u, t in zip(m, xi, strict=True))

    def minimum(self, h: Matrix) -> Point | None:
        """Solution of (4) with another matrix; None if there is none."""
        return minimum(h, [ONE] * len(self.y), self.balance, [ZERO])


def of_plus(check: Callable[..., None]) -> Callable[..., None]:
    """Hand the triplets and parameters to a check as one `Plus`."""

    @wraps(check)
    def of_each(
        trial: Trial, *, x: Matrix, y: Labels, z: Matrix, c: Fraction, lam: Fraction, **rest: Any
    ) -> None:
        check(trial, Plus(x, y, z, c, lam), **rest)

    return of_each


def squared_nonneg(k: Matrix, y: Labels, q: Matrix) -> Point:
    """Problem (3) with xi >= 0 kept, in alpha and the multipliers beta of xi >= 0."""
    n = len(y)
    h = blocks(combine(1, signed(k, y), 1, q), q, q)
    return solution(h, [ONE] * n + [ZERO] * n, [[*map(Fraction, y), *[ZERO] * n]], [ZERO])


# ------------------------------------------------------------------------------------------ draws


def draw_labels(rng: Rng, n: int) -> tuple[int, ...]:
    """Labels with both classes."""
    y = [int(v) for v in rng.choice([-1, 1], n)]
    if len(set(y)) == 1:
        y[int(rng.integers(n))] *= -1
    return tuple(y)


def draw_rows(rng: Rng, n: int, d: int) -> Matrix:
    """Coarse points, n of them in d dimensions."""
    return [draw_vector(rng, d, 3, 1) for _ in range(n)]


def draw_plus(rng: Rng, most: int = 4, least: int = 2) -> Inputs:
    """Training triplets of both classes with parameters."""
    n = int(rng.integers(least, most + 1))
    return {
        "x": draw_rows(rng, n, int(rng.integers(1, 3))),
        "y": draw_labels(rng, n),
        "z": draw_rows(rng, n, int(rng.integers(1, 3))),
        "c": Fraction(int(rng.integers(1, 7)), int(rng.choice([1, 2, 3]))),
        "lam": Fraction(int(rng.integers(1, 7)), int(rng.choice([1, 2, 3]))),
    }


def draw_balanced(rng: Rng, y: Labels) -> Vector:
    """A feasible point of (4) that is not 0."""
    raw = [Fraction(int(v)) for v in rng.integers(0, 4, len(y))]
    for sign in (-1, 1):
        if not any(v for v, label in zip(raw, y, strict=True) if label == sign):
            raw[list(y).index(sign)] = ONE
    total = {s: sum((v for v, u in zip(raw, y, strict=True) if u == s), ZERO) for s in (-1, 1)}
    return [v / total[label] * total[1] for v, label in zip(raw, y, strict=True)]
