"""Exact SVM+: rational kernels, and quadratic programs solved by trying every support.

Independent of the oracle and of the solvers. A solution is returned only with multipliers that
satisfy the KKT conditions in rational arithmetic, so that it needs no further proof. Vectors and
matrices are numpy arrays of Fractions.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, wraps
from itertools import combinations
from typing import Any

import numpy as np

from verification.paper_statements import _rational
from verification.paper_statements._rational import draw_vector, maximise
from verification.paper_statements._trial import Inputs, Rng, Trial

Matrix = np.ndarray[Any, Any]  # of Fractions
Vector = np.ndarray[Any, Any]
Labels = np.ndarray[Any, Any]  # 1 and -1
ZERO, ONE, HALF = Fraction(0), Fraction(1), Fraction(1, 2)


# ------------------------------------------------------------------------------------- matrices


def full(value: Fraction, *shape: int) -> Matrix:
    """The array of this shape that has one value everywhere."""
    return np.full(shape, value, dtype=object)


def identity(n: int) -> Matrix:
    """Unit matrix."""
    return np.eye(n, dtype=object) * ONE


def inverse(a: Matrix) -> Matrix:
    """Inverse of a regular matrix."""
    columns = [_rational.solve(list(a), list(unit)) for unit in identity(len(a))]
    if None in columns:
        raise ArithmeticError("the matrix is singular")
    return np.array(columns, dtype=object).T


def signed(k: Matrix, y: Labels) -> Matrix:
    """The matrix y_i y_j K_ij."""
    return np.outer(y, y) * k


def semidefinite(a: Matrix) -> bool:
    """Whether a symmetric matrix is positive semidefinite, by elimination."""
    while len(a):
        pivot, head = a[0, 0], a[0, 1:]
        if pivot < 0 or (pivot == 0 and any(head)):
            return False
        a = a[1:, 1:] - (np.outer(head, head) / pivot if pivot else 0)
    return True


# ------------------------------------------------------------------------------ correcting space


def augmented(z: Matrix) -> Matrix:
    """z~ = [z; 1]."""
    return np.hstack([z, full(ONE, len(z), 1)])


def deformed(kt: Matrix, c: Fraction, lam: Fraction, weights: Any = ONE) -> Matrix:
    """Q = (lam I + C K~ W)^-1 K~, from the least-squares problem in v~ and not from (5)."""
    return inverse(lam * identity(len(kt)) + c * kt * weights) @ kt


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
    system = np.block([[h, e.T], [e, full(ZERO, m, m)]])
    right = np.concatenate([p, r])
    for size in range(n + 1):
        for support in combinations(range(n), size):
            kept = [*support, *range(n, n + m)]
            found = _rational.solve(list(system[np.ix_(kept, kept)]), list(right[kept]))
            if found is None or any(v < 0 for v in found[:size]):
                continue
            u = full(ZERO, n + m)
            u[kept] = found
            if all((system @ u - right)[:n] >= 0):
                a = u[:n]
                yield Point(a @ h @ a / 2 - p @ a, a, u[n:])


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
    return solution(h, full(ONE, len(y)), y[None], full(ZERO, 1))


def ray(h: Matrix, y: Labels) -> Vector | None:
    """A direction along which (4) falls without bound, for a positive semidefinite H; else None.

    Such an a >= 0 with a'y = 0, Ha = 0 and 1'a > 0 proves that the primal is infeasible.
    """
    ones = full(ONE, len(y))
    rows = [*h, y, *-h, -y, *-identity(len(y)), ones]
    best = maximise(list(ones), [list(row) for row in rows], [ZERO] * (len(rows) - 1) + [ONE])
    return np.array(best.x) if best.value else None


# --------------------------------------------------------------------------------------- problems


@dataclass(frozen=True)
class Solved:
    """Solution of (3): its value is proved by equality of primal and dual."""

    value: Fraction
    w: Vector
    b: Fraction
    vt: Vector
    xi: Vector
    alpha: Vector


@dataclass(frozen=True)
class Plus:
    """Training triplets with C and lam, perhaps weighted, and what (3) to (5) make of them."""

    x: Matrix
    y: Labels
    z: Matrix
    c: Fraction
    lam: Fraction
    weights: Any = ONE  # a vector of Fractions, or one number for all

    def __post_init__(self) -> None:
        for name in ("x", "y", "z"):
            object.__setattr__(self, name, np.array(getattr(self, name), dtype=object))

    @cached_property
    def zt(self) -> Matrix:
        """Z~."""
        return augmented(self.z)

    @cached_property
    def k(self) -> Matrix:
        """Linear kernel of the main features."""
        return self.x @ self.x.T

    @cached_property
    def kz(self) -> Matrix:
        """Linear kernel of the correcting features."""
        return self.z @ self.z.T

    @cached_property
    def kt(self) -> Matrix:
        """K~."""
        return self.kz + 1

    @cached_property
    def ky(self) -> Matrix:
        """K . yy'."""
        return signed(self.k, self.y)

    @cached_property
    def q(self) -> Matrix:
        """Q, the deformed kernel."""
        return deformed(self.kt, self.c, self.lam, self.weights)

    @cached_property
    def h(self) -> Matrix:
        """K . yy' + Q: the matrix of (4)."""
        return self.ky + self.q

    @cached_property
    def normal(self) -> Matrix:
        """Matrix of v~: lam I + C Z~WZ~'."""
        scatter = self.zt.T * self.weights @ self.zt
        return self.lam * identity(len(scatter)) + self.c * scatter

    @cached_property
    def solved(self) -> Solved:
        """Solution of (3), optionally weighted; proved by a feasible point of the dual's value."""
        point = svm_dual(self.h, self.y)
        return self.recovered(point, point.a, self.vt(point.a))

    def recovered(self, point: Point, alpha: Vector, vt: Vector) -> Solved:
        """The primal solution that belongs to a dual one; an error if values differ."""
        w, xi, b = self.w(alpha), self.zt @ vt, point.mult[0]
        value = self.value(w, vt, xi)
        if not self.feasible(w, b, xi) or value != -point.value:
            raise ArithmeticError("an exact optimality certificate does not hold")
        return Solved(value, w, b, vt, xi, alpha)

    def w(self, alpha: Vector) -> Vector:
        """Sum of alpha_i y_i x_i."""
        return alpha * self.y @ self.x

    def vt(self, weights: Vector) -> Vector:
        """The v~ of (lam I + C Z~Z~') v~ = Z~ weights."""
        return inverse(self.normal) @ (weights @ self.zt)

    def value(self, w: Vector, vt: Vector, xi: Vector) -> Fraction:
        """Objective of (3), or its weighted form."""
        return (w @ w + self.c * (xi * self.weights @ xi) + self.lam * (vt @ vt)) / 2

    def margins(self, w: Vector, b: Fraction) -> Vector:
        """y_i (w'x_i + b)."""
        return self.y * (self.x @ w + b)

    def feasible(self, w: Vector, b: Fraction, xi: Vector) -> bool:
        """Whether the margins are at least 1 - xi."""
        return all(self.margins(w, b) + xi >= 1)

    def minimum(self, h: Matrix, balanced: bool = True) -> Point | None:
        """Solution of (4) with another matrix, or without a'y = 0; None if there is none."""
        m = int(balanced)
        return minimum(h, full(ONE, len(h)), self.y[None][:m], full(ZERO, m))

    def solutions(self) -> list[Point]:
        """All vertices of the set of solutions of (4)."""
        return list(kkt_points(self.h, full(ONE, len(self.y)), self.y[None], full(ZERO, 1)))


def of_plus(check: Callable[..., None]) -> Callable[..., None]:
    """Hand the triplets and parameters to a check as one `Plus`."""

    @wraps(check)
    def of_each(
        trial: Trial, *, x: Any, y: Any, z: Any, c: Fraction, lam: Fraction, **rest: Any
    ) -> None:
        check(trial, Plus(x, y, z, c, lam), **rest)

    return of_each


def squared_nonneg(p: Plus, q: Matrix) -> Point:
    """Problem (3) with xi >= 0 kept, in alpha and the multipliers beta of xi >= 0."""
    linear = np.repeat([ONE, ZERO], len(p.y))
    balance = linear * [*p.y, *p.y]
    return solution(np.block([[p.ky + q, q], [q, q]]), linear, balance[None], full(ZERO, 1))


# ------------------------------------------------------------------------------------------ draws


def draw_labels(rng: Rng, n: int) -> tuple[int, ...]:
    """Labels with both classes."""
    y = [int(v) for v in rng.choice([-1, 1], n)]
    if len(set(y)) == 1:
        y[int(rng.integers(n))] *= -1
    return tuple(y)


def draw_rows(rng: Rng, n: int, d: int) -> list[list[Fraction]]:
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


def draw_balanced(rng: Rng, y: tuple[int, ...]) -> Vector:
    """A feasible point of (4) that is not 0."""
    labels = np.array(y)
    raw = np.array([Fraction(int(v)) for v in rng.integers(0, 4, len(y))])
    for sign in (-1, 1):
        if not any(raw[labels == sign]):
            raw[y.index(sign)] = ONE
    positive = sum(raw[labels == 1])
    return np.where(labels == 1, raw, raw / sum(raw[labels == -1]) * positive)
