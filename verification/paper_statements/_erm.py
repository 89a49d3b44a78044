"""Regularised risk of linear multiclass predictors: primal, dual, and their gap, term by term.

P(W) = (1/n) sum_i L(y_i, W'x_i) + lam/2 ||W||^2 and, for dual columns a_i with <1,a_i> = 0,
D(A) = -(1/n) sum_i L*(-lam n a_i without its entry y_i) - lam/2 tr(A K A'), W = X A'. Examples,
weights (a row for each class) and dual columns (a row for each example) are arrays of Fractions.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from verification.paper_statements._rational import Array, Matrix, Vector, draw_vector, draw_weights
from verification.paper_statements._topk import Loss, margins
from verification.paper_statements._trial import Rng

Conjugate = Callable[[Array, int], Fraction | None]


@dataclass(frozen=True)
class Problem:
    """Examples (one vector each), labels in 0..m-1, classes, guesses, regularisation lam."""

    examples: Array
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
        examples=np.array([draw_vector(rng, dimension, spread=2) for _ in range(n)]),
        labels=tuple(int(v) for v in rng.integers(m, size=n)),
        m=m,
        k=int(rng.integers(1, m)),
        lam=Fraction(int(rng.integers(1, 9)), 4),
    )


def draw_block(rng: Rng, points: Matrix, radius: Fraction) -> Array:
    """Random point of radius times the hull of the points; vertices and faces are common."""
    shares = radius * np.array(draw_weights(rng, 3))
    return shares @ np.array([points[int(rng.integers(len(points)))] for _ in shares])


def column(x: Array | Vector, y: int) -> Array:
    """Dual column a with -x in the other classes and <1,x> in class y."""
    return np.insert(-np.array(x), y, sum(x))


def block(a: Array, y: int) -> Array:
    """The inverse of `column`: x = -a without its entry y."""
    return -np.delete(a, y)


def weights(problem: Problem, columns: Array) -> Array:
    """W = X A', as one vector per class."""
    return columns.T @ problem.examples


def norm2(w: Array) -> Fraction:
    """Squared Frobenius norm."""
    return (w * w).sum()


def primal(problem: Problem, w: Array, loss: Loss) -> Fraction:
    """P(W) for a loss of the margin violations z of the other classes."""
    scores = zip(problem.examples @ w.T, problem.labels, strict=True)
    total = sum((loss(margins(f, y), problem.k) for f, y in scores), Fraction(0))
    return total / problem.n + problem.lam / 2 * norm2(w)


def dual(problem: Problem, columns: Array, conjugate: Conjugate) -> Fraction | None:
    """D(A) for a conjugate in the space of the other classes; None for -infinity."""
    total = Fraction(0)
    for a, y in zip(columns, problem.labels, strict=True):
        value = conjugate(problem.lam * problem.n * block(a, y), problem.k)
        if value is None or sum(a) != 0:
            return None
        total += value
    return -total / problem.n - problem.lam / 2 * norm2(weights(problem, columns))
