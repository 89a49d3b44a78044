"""What a ranker may claim: bounds on P and D at its attributes that no rounding undercuts.

The coefficients of a ranking have absolute sum <= 4 per query, those of a difference of rankings
<= 8; a mean over queries is bounded likewise. Scores in error by s thus change L by at most 4 s, or
8 s, and so does an inference whose terms are rounded.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from fast.solvers.rounding import EPS, Rows, confirmed, down, precisions, up
from fast.solvers.rows import is_sparse

DENSE = 1_000_000  # entries up to which a sparse matrix may be made dense


class Easy(NamedTuple):
    """Constraints signs_i (<w, x_i> + b) >= 1, signs 0 for examples without, and their mu (n,)."""

    signs: np.ndarray
    mu: np.ndarray


class Dual(NamedTuple):
    """Multipliers lambda (m,), Delta (m,) and coefficients (m, n) of their rankings.

    ``reference``: the coefficients (n,) that are subtracted from all of them, and from R*'s, 0.
    ``spread``: a bound on the absolute sums of coefficients whose sum is not 0; None for rankings.
    """

    weights: np.ndarray
    deltas: np.ndarray
    coefficients: np.ndarray
    reference: np.ndarray | None
    easy: Easy | None
    spread: float | None = None


def claims(
    X: Any, w: np.ndarray, C: float, loss: Callable[[np.ndarray], float] | None, dual: Dual,
    claimed: tuple[float, float], tol: float, form: Callable[[Any], Rows] | None = None,
) -> tuple[float, float]:  # fmt: skip
    """(P, D), bounds on the objectives at w and at the multipliers.

    Parameters
    ----------
    X : (n, d) array or CSR
    w : (d,) array
    C : float
    loss : callable
        L of the scores (n,), less those of the reference; None where it is 0 for all scores.
    dual : Dual
    claimed : (float, float)
        P and D in float64: arithmetic in which they are confirmed suffices.
    tol : float
    form : callable, optional
        The rows in an arithmetic, where these are not those of X less their mean.
    """

    def bounds(real: Any) -> tuple[float, float]:
        rows = _without_offset(X, real) if form is None else form(real)
        return _primal(rows, w.astype(real), C, loss, dual), _dual(rows, C, dual)

    return confirmed(precisions(X.shape[0] * X.shape[1]), bounds, claimed, tol)


def _without_offset(X: Any, real: Any) -> Rows:
    """X less its mean, on which neither rankings nor constraints with a free b depend."""
    if is_sparse(X):
        if X.shape[0] * X.shape[1] > DENSE:
            return Rows(X, real)
        X = X.toarray()
    raw, mean = Rows(X, np.float64).norms, X.mean(axis=0, dtype=np.float64)
    rows = Rows(X.astype(real) - mean.astype(real), real)
    # what the subtraction rounded, in the terms of sums of n or d products
    rows.norms += 2.0 * (raw + float(np.linalg.norm(mean))) / (min(X.shape) + 4)
    return rows


def _primal(rows: Rows, w: Any, C: float, loss: Any, dual: Dual) -> float:
    """Upper bound on P at the least multiple of w, not below 1, that keeps the constraints."""
    eps, exact = rows.eps, rows.values(w)
    scores = np.asarray(exact, dtype=np.float64)
    largest = float(abs(scores).max())
    slip = up(rows.slip(w).max())
    rounding = slip + EPS * largest
    spread = dual.spread or (4.0 if dual.reference is None else 8.0)
    value = off = 0.0
    if loss is not None:
        value = loss(scores)
        off = spread * rounding + (rows.n + 16) * EPS * (abs(value) + 1.0 + spread * largest)
    factor = 1.0
    if dual.easy is not None and dual.easy.signs.any():
        factor = _repair(exact, dual.easy, slip)
        off += 0.0 if loss is None else spread * (factor - 1.0) * (largest + rounding)
    square, more = rows.square(w * rows.real(factor))
    half = (square + more) / 2
    price = rows.real(C)
    return up(half + price * (value + off) + 8 * eps * (half + price * (abs(value) + off)))


def _repair(scores: Any, easy: Easy, slip: float) -> float:
    """The factor that makes the worst margin 1 for the best b; inf where none does."""
    ends = []
    for sign in (1.0, -1.0):
        own = easy.signs == sign
        ends.append((1 - sign * scores[own]).max() if own.any() else -np.inf)
    missed = (ends[0] + ends[1]) / 2 + slip + 4 * EPS * (1 + abs(scores).max())
    if not missed > 0:
        return 1.0
    return up(1 / (1 - missed)) * (1.0 + 4.0 * EPS) if missed < 1 else np.inf


def _dual(rows: Rows, C: float, dual: Dual) -> float:
    """Lower bound on D at the multipliers made feasible."""
    real, eps = rows.real, rows.eps
    weights, total = np.maximum(dual.weights.astype(real), 0), real(C)
    if weights.sum() > total:
        weights = weights * (total / weights.sum())
    c = dual.coefficients
    pull, size = weights @ c, weights @ abs(c)
    if dual.reference is not None:
        pull, size = pull - total * dual.reference, size + total * abs(dual.reference)
    gain = (weights * dual.deltas).sum() * (1 - (rows.n + 16) * EPS)
    if dual.easy is not None:
        signs, mu = dual.easy.signs, np.maximum(dual.easy.mu.astype(real), 0)
        sums = [mu[signs == sign].sum() for sign in (1.0, -1.0)]
        least = min(sums)
        for sign, given in zip((1.0, -1.0), sums, strict=True):
            mu[signs == sign] *= least / given if given > 0 else 0
        pull, size = pull - mu * signs, size + mu
        gain += mu.sum()
    # coefficients are multiples of a unit in float64
    square = rows.pulled_square(pull, size * (1 + (4 * EPS + 4 * eps) / ((rows.n + 8) * eps)))
    return down(gain - square / 2 - (rows.n + len(weights) + 16) * eps * (gain + square))
