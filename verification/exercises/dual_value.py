"""The dual objective of the top-k SVM.

The training problem is min over W in R^{d x m} of 1/2 ||W||^2 + C sum_i L(y_i, W'x_i) with
the top-k hinge L = max{0, S_k(z)/k}, z_j = f_j - f_y + 1 over j != y. A holds a row a_i of
m numbers per example.

Write `dual_value(X, y, A, C, k)`: D(A) for X of shape (n, d), labels y in 0..m-1, A of
shape (n, m): the lower bound on the training problem that Fenchel's duality gives, with W =
X'A, and minus infinity (`-np.inf`) where A is outside of its domain.

It needs lecture 3 (the top-k simplex) and lecture 4 (the conjugate of the top-k hinge), too.

Hints
-----
D(A) = -C sum_i L*(-a_i/C) - 1/2 ||X'A||^2. The conjugate in the scores is the one of
`conjugate_topk_hinge`, where the entry at y takes what the others give.

With x = -a_i over the others and s = <1,x>, the term of an example is +s if x >= 0, s <= C,
x_j <= s/k and a_iy = s; otherwise D = -infinity.

sum_i A[i, y_i] - ||X'A||^2/2 if every row of A sums to 0, s = A[i, y_i] <= C, and all other
entries lie between -s/k and 0.
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from verification.exercises import _exact, wrong
from verification.verdicts.verdict import Judgement

LECTURE = 5


def dual_value(X: np.ndarray, y: np.ndarray, A: np.ndarray, C: float, k: int) -> float:
    """The masses minus half the squared norm, on the domain."""
    rows = np.arange(len(y))
    s = A[rows, y]
    x = -A.copy()
    x[rows, y] = 0.0
    slack = 1e-12 * C
    inside = (
        (np.abs(A.sum(axis=1)) <= slack)
        & (s <= C + slack)
        & (x.min(axis=1) >= -slack)
        & (k * x.max(axis=1) <= s + slack)
    )
    return float(s.sum() - ((X.T @ A) ** 2).sum() / 2) if inside.all() else -np.inf


def instances(seed: int = 0) -> Iterator[dict[str, Any]]:
    """Dyadic training sets, on which feasibility is exact."""
    return _exact.training_sets(seed)


def judge(answer: np.ndarray, X: Any, y: Any, A: Any, C: float, k: int) -> Judgement:
    """Compare with the value in rational arithmetic."""
    exact = _exact.rows(A)
    if not _exact.feasible(y, exact, Fraction(C), k):
        return _exact.near(answer, -np.inf, 0.0)
    return _exact.near(answer, _exact.dual(_exact.rows(X), y, exact), _exact.rounding(X, A))


@wrong
def plus_infinity(X: np.ndarray, y: np.ndarray, A: np.ndarray, C: float, k: int) -> float:
    """+infinity outside, as Theorem 1 of Lapin et al. 2015 prints it (erratum E2): no lower bound."""
    D = dual_value(X, y, A, C, k)
    return np.inf if -np.inf == D else D


@wrong
def without_domain(X: np.ndarray, y: np.ndarray, A: np.ndarray, C: float, k: int) -> float:
    """The formula everywhere: larger than the optimum outside of the domain."""
    return float(A[np.arange(len(y)), y].sum() - ((X.T @ A) ** 2).sum() / 2)


@wrong
def caps_of_beta(X: np.ndarray, y: np.ndarray, A: np.ndarray, C: float, k: int) -> float:
    """x_j <= C/k instead of s/k: the domain of the other top-k hinge."""
    single = dual_value(X, y, A, C, 1)
    return single if (-A).max() <= C / k else -np.inf


@wrong
def norm_not_halved(X: np.ndarray, y: np.ndarray, A: np.ndarray, C: float, k: int) -> float:
    """||X'A||^2 without the half."""
    return dual_value(X, y, A, C, k) - float(((X.T @ A) ** 2).sum() / 2)
