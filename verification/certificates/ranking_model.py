"""Certified duality gap of a trained AP model, from its weights and its rankings.

With s = Xw, rankings R_t of weight lambda_t >= 0 that sum to at most C (the rest is the right
ranking's, whose Delta and coefficients vanish) and v = -X'(sum lambda_t c_t - C reference),

    P(w) - D(lambda) = 1/2||w - v||^2 + sum_t lambda_t [L(s) - Delta_t - <c_t, s>],

a sum of nonnegative terms, for P = 1/2||w||^2 + C (L(s) - <reference, s>) and means over queries.
The reference is that of a convex step of the ramp loss, else 0. Easy examples (problem (10)) add
multipliers mu >= 0 with <mu, y> = 0: v gains X'(mu y), and the gap mu_i (y_i (s_i + b) - 1); a bias that
keeps them at margin 1 is looked for, and w is scaled up if there is none. Nothing of the trainer is used.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from verification.certificates import ranking_truth
from verification.certificates.model import EPS, EXTENDED, ModelCertificate
from verification.certificates.ranking_truth import Array, mask
from verification.errors import InvalidArgumentError

Real = np.longdouble
EPS_OF_REAL = float(np.finfo(Real).eps)


class Query(NamedTuple):
    """The examples of a query, and which of them are positive."""

    rows: Array
    positives: Array

    def unit(self) -> float:
        """2/(PN)."""
        P = int(self.positives.sum())
        return 2.0 / (P * (len(self.positives) - P))


class _Easy(NamedTuple):
    """Signs (n,) of the easy examples, 0 elsewhere, and their multipliers, balanced."""

    signs: Array
    mu: Array


def ranking_erm(
    coef: Any,
    X: Any,
    y: Any,
    *,
    C: float,
    rankings: Any,
    weights: Any,
    groups: Any = None,
    reference: Any = None,
    easy: Any = None,
    easy_weights: Any = None,
) -> ModelCertificate:
    """Certify w for min 1/2||w||^2 + C L(Xw), L the mean of the AP loss over the queries.

    Parameters
    ----------
    coef : (d,) or (1, d) array
        w.
    X : (n, d) array or sparse matrix
    y : (n,) array
        Positive entries are positives; every query needs one of both kinds.
    C : float
        Weight of the loss.
    rankings : (m, n) array of int
        Inversions within the query: negatives above a positive, positives below a negative.
    weights : (m,) array
        lambda >= 0 with sum at most C; clipped and scaled to that where they are not.
    groups : (n,) array, optional
        Query of each example.
    reference : (n,) array of int, optional
        Inversions of the ranking at which the ramp's second maximum is fixed.
    easy : (n,) array of bool, optional
        Examples with the constraint y_i (<w, x_i> + b) >= 1 instead of a place in the ranking.
    easy_weights : (n,) array, optional
        Their multipliers.

    Returns
    -------
    ModelCertificate

    Raises
    ------
    InvalidArgumentError
        If shapes do not fit, or a row of ``rankings`` is no ranking; the easy examples violated
        by 1 or more.
    """
    w, positives = np.asarray(coef, dtype=Real).ravel(), mask(y)
    n, d = X.shape
    if d != len(w) or positives.shape != (n,) or not np.isfinite(w).all():
        raise InvalidArgumentError(
            f"coef of shape {np.shape(coef)}, y of shape {positives.shape}: expected finite ({d},) "
            f"and ({n},) to fit X"
        )
    inversions, lam = check_rankings(rankings, weights, n)
    hard = np.ones(n, dtype=bool) if easy is None else ~np.asarray(easy, dtype=bool)
    queries = _queries(positives, hard, groups)
    for row in inversions:
        check_ranking(queries, row)
    lam, moved = repaired(lam, C)
    coefficients = Coefficients(queries, n)
    v_scores = -(lam @ coefficients(inversions))
    drop = np.zeros(n, dtype=Real)
    if reference is not None:
        check_ranking(queries, np.asarray(reference))
        drop = coefficients(np.asarray(reference)[None])[0]
        v_scores = v_scores + C * drop
    limits, off = _balanced(positives, hard, easy_weights)
    extended = n * d <= EXTENDED
    product = Product(X, Real if extended else np.float64)
    w, scores = _feasible(w, product.scores(w), limits)
    v = product.combination(v_scores + limits.mu * limits.signs)
    apart = w - v
    value, slip = mean_loss(queries, scores)
    # what rounding in the scores and in v may hide
    reach = float((product.norms() * float(np.sqrt((w * w).sum()))).max(initial=0.0))
    rounding = 4 * (d + 4) * product.eps * reach
    error = C * (slip + 2 * rounding)
    losses = max(Real(0), C - lam.sum()) * value  # the right ranking's
    for weight, row in zip(lam, inversions, strict=True):
        attained = coefficients.delta(row) + (coefficients(row[None])[0] * scores).sum()
        losses += weight * max(Real(0), value - attained)
    margins, most = _excess(scores, limits)
    residual = losses + margins
    error += float(limits.mu.sum()) * 4 * (product.eps * (d + 4) * reach + EPS_OF_REAL * most)
    spread = float((np.abs(v_scores + limits.mu * limits.signs) * product.norms()).sum())
    off_v = (n + 2) * product.eps * spread
    length = float(np.sqrt((apart * apart).sum()))
    sizes = 1 + 4 * float(np.abs(scores).max(initial=0.0))
    error += length * off_v + off_v**2 / 2 + 4 * (n + 4) * EPS_OF_REAL * C * sizes
    gap = float(residual) + length**2 / 2 + error
    primal = float((w * w).sum() / 2 + C * (value - (drop * scores).sum())) + error
    primal += EPS * abs(primal)  # rounded to a float
    terms = {
        "1/2||w - v||^2, v the dual's weights": length**2 / 2,
        "sum_t lambda_t (L(s) - Delta_t - <c_t,s>)": float(losses),
        "sum_i mu_i (y_i (s_i + b) - 1)": float(margins),
        "rounding": float(error),
    }
    if easy is None:
        del terms["sum_i mu_i (y_i (s_i + b) - 1)"]
    return ModelCertificate(primal, primal - gap, gap, error, moved + off, terms)


def dual_value(
    X: Any,
    y: Any,
    *,
    C: float,
    rankings: Any,
    weights: Any,
    groups: Any = None,
    easy: Any = None,
    easy_weights: Any = None,
) -> tuple[float, Array]:
    """A lower bound on the optimum from the dual point alone, and its weights v (d,); see `ranking_erm`.

    D = sum_t lambda_t Delta_t + sum_i mu_i - 1/2||v||^2 with lambda and mu repaired to feasibility.
    """
    positives = mask(y)
    n, d = X.shape
    inversions, lam = check_rankings(rankings, weights, n)
    hard = np.ones(n, dtype=bool) if easy is None else ~np.asarray(easy, dtype=bool)
    queries = _queries(positives, hard, groups)
    for row in inversions:
        check_ranking(queries, row)
    lam, _ = repaired(lam, C)
    limits, _ = _balanced(positives, hard, easy_weights)
    coefficients = Coefficients(queries, n)
    pulls = limits.mu * limits.signs - lam @ coefficients(inversions)
    product = Product(X, Real if n * d <= EXTENDED else np.float64)
    v = product.combination(pulls)
    gains = limits.mu.sum()
    for weight, row in zip(lam, inversions, strict=True):
        gains += weight * coefficients.delta(row)
    off = (n + len(lam) + 4) * product.eps * float((np.abs(pulls) * product.norms()).sum())
    length = float(np.sqrt((v * v).sum()))
    error = length * off + off**2 / 2 + 4 * (n + len(lam)) * EPS_OF_REAL * float(gains)
    value = float(gains - (v * v).sum() / 2)
    return value - error - EPS * abs(value), v.astype(float)


def _queries(positives: Array, hard: Array, groups: Any) -> list[Query]:
    """The hard examples by query; without one of both kinds there is no loss."""
    names = np.zeros(len(positives), dtype=int) if groups is None else np.asarray(groups)
    found = []
    for name in np.unique(names):
        rows = np.flatnonzero((names == name) & hard)
        inside = positives[rows]
        if inside.any() and not inside.all():
            found.append(Query(rows, inside))
        elif hard.all():
            raise InvalidArgumentError(
                f"groups: query {name!r} has one kind of examples; AP-SVM has no loss there"
            )
    return found


def check_rankings(rankings: Any, weights: Any, n: int) -> tuple[Array, Array]:
    """Inversions (m, n) and weights (m,), or an error about their shapes."""
    inversions, lam = np.asarray(rankings), np.asarray(weights, dtype=Real)
    whole = inversions.dtype.kind in "iu"
    if lam.ndim != 1 or inversions.shape != (len(lam), n) or not whole:
        raise InvalidArgumentError(
            f"rankings of shape {inversions.shape} and dtype {inversions.dtype}: expected integers "
            f"({lam.size}, {n}), a row per weight"
        )
    return inversions, lam


def check_ranking(queries: list[Query], inversions: Array) -> None:
    """InvalidArgumentError unless these are the inversions of a ranking of each query."""
    outside = inversions.copy()
    for query in queries:
        outside[query.rows] = 0
        if defect := ranking_truth.ranking_defect(query.positives, inversions[query.rows]):
            raise InvalidArgumentError(f"rankings: {defect}")
    if outside.any():
        raise InvalidArgumentError("rankings: inversions of an example that is not ranked")


def repaired(lam: Array, C: float) -> tuple[Array, float]:
    """Weights >= 0 with sum at most C, and how far they were moved."""
    feasible = np.maximum(lam, 0)
    total = feasible.sum()
    if total > C:
        feasible = feasible * (Real(C) / total)
    return feasible, float(np.abs(feasible - lam).sum())


def _balanced(positives: Array, hard: Array, mu: Any) -> tuple[_Easy, float]:
    """Multipliers of the easy examples with equal sums on both sides, and how far they were moved."""
    signs = np.where(hard, 0, np.where(positives, 1, -1)).astype(Real)
    given = np.zeros(len(hard), dtype=Real) if mu is None else np.asarray(mu, dtype=Real)
    feasible = np.where(hard, 0, np.maximum(given, 0))
    sums = [feasible[signs == side].sum() for side in (1, -1)]
    least = min(sums)
    for side, total in zip((1, -1), sums, strict=True):
        if total > 0:
            feasible[signs == side] *= least / total
    return _Easy(signs, feasible), float(np.abs(feasible - given).sum())


def _feasible(w: Array, scores: Array, easy: _Easy) -> tuple[Array, Array]:
    """The least multiple of w, not below 1, that some bias lets keep the easy examples at margin 1."""
    low, high = _biases(scores, easy)
    if low <= high:
        return w, scores
    violation = (low - high) / 2
    if violation >= 1:
        raise InvalidArgumentError(
            f"coef: an easy example misses its margin by {float(violation):.3g}; nothing is certain "
            "about a model that is not feasible"
        )
    factor = 1 / (1 - violation) * (1 + 4 * EPS_OF_REAL)
    return w * factor, scores * factor


def _biases(scores: Array, easy: _Easy) -> tuple[Any, Any]:
    """Ends of the interval of b with signs (scores + b) >= 1."""
    low = max((1 - scores)[easy.signs > 0], default=Real(-np.inf))
    high = min((-1 - scores)[easy.signs < 0], default=Real(np.inf))
    return low, high


def _excess(scores: Array, easy: _Easy) -> tuple[Any, float]:
    """The sum of mu_i (y_i (s_i + b) - 1), which is free of b since <mu, y> = 0; and max |s_i| + 1."""
    inside = easy.mu > 0
    if not inside.any():
        return Real(0), 0.0
    low, high = _biases(scores, easy)
    b = (low + high) / 2
    terms = easy.mu[inside] * (easy.signs[inside] * (scores[inside] + b) - 1)
    return np.maximum(terms, 0).sum(), float(np.abs(scores[inside] + b).max()) + 1.0


class Coefficients:
    """Delta and coefficients of rankings as means over the queries, in extended precision."""

    def __init__(self, queries: list[Query], n: int) -> None:
        self.queries = queries
        self.units = np.zeros(n, dtype=Real)
        for query in queries:
            signs = np.where(query.positives, -1, 1)
            self.units[query.rows] = signs * Real(query.unit()) / len(queries)

    def __call__(self, inversions: Array) -> Array:
        """Coefficients (m, n)."""
        return np.asarray(inversions * self.units)

    def delta(self, inversions: Array) -> Any:
        """1 - AP, the mean."""
        total = Real(0)
        for query in self.queries:
            c = np.sort(inversions[query.rows[query.positives]]).astype(Real)
            total += (c / (np.arange(1, len(c) + 1) + c)).mean()
        return total / max(1, len(self.queries))


def mean_loss(queries: list[Query], scores: Array) -> tuple[Any, float]:
    """The mean of L, certified by the rankings that attain it, and a bound on its error."""
    value, error = Real(0), 0.0
    for query in queries:
        best = ranking_truth.solve(scores[query.rows], query.positives, limit=0)
        value += Real(best.value.numerator) / Real(best.value.denominator)
        error += best.error
    many = max(1, len(queries))
    return value / many, error / many


class Product:
    """Products with X in a precision."""

    def __init__(self, X: Any, real: Any) -> None:
        self.sparse = hasattr(X, "tocsr")
        self.X: Any = X.tocsr().astype(real) if self.sparse else np.asarray(X, dtype=real)
        self.real, self.eps = real, float(np.finfo(real).eps)

    def scores(self, w: Array) -> Array:
        """Xw."""
        return np.asarray(self.X @ w.astype(self.real), dtype=Real)

    def combination(self, a: Array) -> Array:
        """X'a."""
        return np.asarray(self.X.T @ a.astype(self.real), dtype=Real)

    def norms(self) -> Array:
        """Row norms."""
        squares = self.X.multiply(self.X) if self.sparse else self.X * self.X
        return np.sqrt(np.asarray(squares.sum(axis=1), dtype=float).ravel())
