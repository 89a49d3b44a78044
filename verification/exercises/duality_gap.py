"""A certificate for somebody else's model.

Somebody trained min over W of P(W) = 1/2 ||W||^2 + C sum_i L(y_i, W'x_i), with the top-k
hinge L = max{0, S_k(z)/k}, z_j = f_j - f_y + 1 over j != y, and hands you a matrix W of
shape (d, m) and dual blocks A of shape (n, m). They need not belong together: W is any
matrix.

Write `gap(X, y, W, A, C, k)`: a number that P(W) exceeds the optimum by at most, P(W) -
D(A); infinity (`np.inf`) where A proves nothing.

Hints
-----
P(W) is an upper bound on the optimum for every W, D(A) a lower one for every A in the
domain. Neither needs the other.

D(A) is that of `dual_value`: sum of the A[i, y_i] minus 1/2 ||X'A||^2. It is X'A there, not
W.

P: f = X W, z = f - f_y + 1 without the entry at y, the k largest summed, max with 0,
divided by k, times C. Then P - D, and infinity if a row of A violates: sums to 0, s = A[i,
y_i] <= C, the others in [-s/k, 0].
"""

from collections.abc import Iterator
from fractions import Fraction
from typing import Any

import numpy as np

from verification.exercises import _exact, wrong
from verification.verdicts.verdict import Judgement

LECTURE = 8


def gap(X: np.ndarray, y: np.ndarray, W: np.ndarray, A: np.ndarray, C: float, k: int) -> float:
    """P(W) - D(A), infinite outside of the domain."""
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
    if not inside.all():
        return np.inf
    f = X @ W
    z = f - f[rows, y][:, None] + 1.0
    z[rows, y] = -np.inf
    losses = np.maximum(np.sort(z, axis=1)[:, -k:].sum(axis=1), 0.0) / k
    D = s.sum() - ((X.T @ A) ** 2).sum() / 2
    return float((W**2).sum() / 2 + C * losses.sum() - D)


def instances(seed: int = 0) -> Iterator[dict[str, Any]]:
    """Dyadic training sets with models that do and do not belong to the blocks."""
    rng = np.random.default_rng(9 + seed)
    for i, given in enumerate(_exact.training_sets(seed)):
        X, A = given["X"], given["A"]
        W = X.T @ A if i % 3 == 0 else rng.integers(-2, 3, (X.shape[1], A.shape[1])) / 2.0
        yield {"X": X, "y": given["y"], "W": W, "A": A, "C": given["C"], "k": given["k"]}


def judge(answer: np.ndarray, X: Any, y: Any, W: Any, A: Any, C: float, k: int) -> Judgement:
    """Compare with the gap in rational arithmetic."""
    if not _exact.feasible(y, _exact.rows(A), Fraction(C), k):
        return _exact.near(answer, np.inf, 0.0)
    data = _exact.rows(X)
    exact = _exact.primal(data, y, _exact.rows(W), Fraction(C), k)
    size = (W**2).sum() + C * (2 * np.abs(X) @ np.abs(W) + 1).sum()
    tolerance = _exact.rounding(X, A, float(size))
    return _exact.near(answer, exact - _exact.dual(data, y, _exact.rows(A)), tolerance)


@wrong
def model_in_the_dual(
    X: np.ndarray, y: np.ndarray, W: np.ndarray, A: np.ndarray, C: float, k: int
) -> float:
    """1/2 ||W||^2 in the dual, too: a bound only if W = X'A."""
    return gap(X, y, W, A, C, k) - float(((X.T @ A) ** 2).sum() - (W**2).sum()) / 2


@wrong
def no_domain(
    X: np.ndarray, y: np.ndarray, W: np.ndarray, A: np.ndarray, C: float, k: int
) -> float:
    """A is not checked: outside of the domain the number is no bound."""
    inside = gap(X, y, W, 0 * A, C, k)
    return inside - float(A[np.arange(len(y)), y].sum() - ((X.T @ A) ** 2).sum() / 2)


@wrong
def over_all_classes(
    X: np.ndarray, y: np.ndarray, W: np.ndarray, A: np.ndarray, C: float, k: int
) -> float:
    """The k largest of all m entries, as printed: that loss is another one for k > 1 (erratum E1)."""
    rows = np.arange(len(y))
    z = X @ W
    z = z - z[rows, y][:, None] + 1.0
    own = z.copy()
    own[rows, y] = -np.inf
    z[rows, y] = 0.0
    tops = [np.maximum(np.sort(v, axis=1)[:, -k:].sum(axis=1), 0.0) / k for v in (z, own)]
    return gap(X, y, W, A, C, k) + C * float((tops[0] - tops[1]).sum())
