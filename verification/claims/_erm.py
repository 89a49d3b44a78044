"""Regularised risk of linear multiclass predictors: primal, dual, and their gap, term by term.

P(W) = (1/n) sum_i L(y_i, W'x_i) + lam/2 ||W||^2 and, for dual columns a_i with <1,a_i> = 0,
D(A) = -(1/n) sum_i L*(-lam n a_i without its entry y_i) - lam/2 tr(A K A'), W = X A'. Everything
works on Fractions and on floats alike.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

from verification.claims._rational import (
    Matrix,
    Vector,
    add,
    dot,
    draw_vector,
    draw_weights,
    put,
    scale,
    square,
    without,
)
from verification.claims._topk import margins
from verification.claims._trial import Rng

Loss = Callable[[Vector, int], Fraction]
Conjugate = Callable[[Vector, int], Fraction | None]


@dataclass(frozen=True)
class Problem:
    """Examples (one vector each), labels in 0..m-1, classes, guesses, regularisation lam."""

    examples: Matrix
    labels: tuple[int, ...]
    m: int
    k: int
    lam: Fraction

    @property
    def n(self) -> int:
        """Number of examples."""
        return len(self.labels)

    @property
    def radius(self) -> Fraction:
        """Radius 1/(lam n) of the sets in which the dual columns live."""
        return 1 / (self.lam * self.n)


def draw_problem(rng: Rng, largest_n: int = 4, largest_m: int = 4) -> Problem:
    """Few examples with small rational features; zero examples occur."""
    n, m = int(rng.integers(1, largest_n + 1)), int(rng.integers(2, largest_m + 1))
    dimension = int(rng.integers(1, 4))
    return Problem(
        examples=[draw_vector(rng, dimension, spread=2) for _ in range(n)],
        labels=tuple(int(v) for v in rng.integers(m, size=n)),
        m=m,
        k=int(rng.integers(1, m)),
        lam=Fraction(int(rng.integers(1, 9)), 4),
    )


def draw_block(rng: Rng, points: Matrix, radius: Fraction) -> Vector:
    """Random point of radius times the hull of the points; vertices and faces are common."""
    x = [Fraction(0)] * len(points[0])
    for weight in draw_weights(rng, 3):
        x = add(x, scale(weight * radius, points[int(rng.integers(len(points)))]))
    return x


def column(x: Vector, y: int) -> Vector:
    """Dual column a with -x in the other classes and <1,x> in class y."""
    return put(scale(-1, x), y, sum(x, Fraction(0)))


def block(a: Vector, y: int) -> Vector:
    """The inverse of `column`: x = -a without its entry y."""
    return scale(-1, without(a, y))


def weights(problem: Problem, columns: Matrix) -> Matrix:
    """W = X A', as one vector per class."""
    dimension = len(problem.examples[0])
    w = [[Fraction(0)] * dimension for _ in range(problem.m)]
    for x, a in zip(problem.examples, columns, strict=True):
        w = [add(row, scale(a_j, x)) for row, a_j in zip(w, a, strict=True)]
    return w


def scores(w: Matrix, x: Vector) -> Vector:
    """W'x."""
    return [dot(row, x) for row in w]


def norm2(w: Matrix) -> Fraction:
    """Squared Frobenius norm."""
    return sum((square(row) for row in w), Fraction(0))


def primal(problem: Problem, w: Matrix, loss: Loss) -> Fraction:
    """P(W) for a loss of the margin violations z of the other classes."""
    total = sum(
        (
            loss(margins(scores(w, x), y), problem.k)
            for x, y in zip(problem.examples, problem.labels, strict=True)
        ),
        Fraction(0),
    )
    return total / problem.n + problem.lam / 2 * norm2(w)


def dual(problem: Problem, columns: Matrix, conjugate: Conjugate) -> Fraction | None:
    """D(A) for a conjugate in the space of the other classes; None for -infinity."""
    total = Fraction(0)
    for a, y in zip(columns, problem.labels, strict=True):
        value = conjugate(scale(problem.lam * problem.n, block(a, y)), problem.k)
        if value is None or sum(a, Fraction(0)) != 0:
            return None
        total += value
    return -total / problem.n - problem.lam / 2 * norm2(weights(problem, columns))
