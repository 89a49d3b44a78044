"""Certified gap of the last convex step of a latent AP-SVM, and its objective.

A bag's score is the best of its candidates; a step fixes the candidate h_i of each positive bag. For
negative bags the best one stays inside L, which does not fall in their scores, so that a ranking R_t with
one candidate per bag is a cut below L, and the gap has the terms of `verification.certificates.ranking_model`:

    P(w) - D(lambda) = 1/2||w - v||^2 + sum_t lambda_t [L(s) - Delta_t - <c_t, X_t w>],   v = -sum lambda_t X_t'c_t,

X_t (n, d) the candidates of cut t. P bounds the objective J, in which positive bags take their best too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from verification.certificates import ranking_truth
from verification.certificates.model import EPS, ModelCertificate
from verification.certificates.ranking_model import (
    EPS_OF_REAL,
    Coefficients,
    Product,
    Query,
    Real,
    check_ranking,
    check_rankings,
    mean_loss,
    repaired,
)
from verification.certificates.ranking_truth import Array, mask
from verification.errors import InvalidArgumentError


def latent_risk(w: Array, bags: Any, y: Any, C: float) -> float:
    """J(w) = 1/2||w||^2 + C L(s), every bag scored by its best candidate."""
    scores = np.array([(np.asarray(bag) @ w).max() for bag in bags])
    return float(w @ w) / 2 + C * float(ranking_truth.solve(scores, y).value)


def latent_erm(
    coef: Any, bags: Any, y: Any, *, C: float, rankings: Any, weights: Any, candidates: Any
) -> ModelCertificate:
    """Certify w for the convex step that fixed the candidates of the positive bags.

    Parameters
    ----------
    coef : (d,) or (1, d) array
        w.
    bags : sequence of (n_candidates_i, d) arrays
    y : (n,) array
        Label of each bag.
    C, rankings, weights
        As in `ranking_erm`, of bags.
    candidates : (m, n) array of int
        Candidate of each bag in each cut; for a positive bag the same in all.

    Returns
    -------
    ModelCertificate

    Raises
    ------
    InvalidArgumentError
        If shapes do not fit, or cuts disagree on the candidates of positive bags.
    """
    positives, blocks = mask(y), [np.asarray(bag, dtype=Real) for bag in bags]
    w, n = np.asarray(coef, dtype=Real).ravel(), len(blocks)
    inversions, lam = check_rankings(rankings, weights, n)
    chosen = np.asarray(candidates)
    sizes = np.array([len(block) for block in blocks])
    if chosen.shape != inversions.shape or (chosen < 0).any() or (chosen >= sizes).any():
        raise InvalidArgumentError(
            f"candidates of shape {chosen.shape}: expected {inversions.shape}, each in its bag"
        )
    if (chosen[:, positives] != chosen[:1, positives]).any():
        raise InvalidArgumentError("candidates: a step fixes one candidate per positive bag")
    query = [Query(np.arange(n), positives)]
    for row in inversions:
        check_ranking(query, row)
    lam, moved = repaired(lam, C)
    coefficients = Coefficients(query, n)
    each = [block @ w for block in blocks]
    scores = np.array([s.max() for s in each])
    if len(chosen):
        fixed = [s[i] for s, i in zip(each, chosen[0], strict=True)]
        scores = np.where(positives, fixed, scores)
    value, slip = mean_loss(query, scores)
    residual, v = max(Real(0), C - lam.sum()) * value, np.zeros(len(w), dtype=Real)
    spread = 0.0
    for weight, row, places in zip(lam, inversions, chosen, strict=True):
        cut = Product(np.stack([b[i] for b, i in zip(blocks, places, strict=True)]), Real)
        c = coefficients(row[None])[0]
        attained = coefficients.delta(row) + (c * cut.scores(w)).sum()
        residual += weight * max(Real(0), value - attained)
        v -= weight * cut.combination(c)
        spread += float(weight) * float((np.abs(c) * cut.norms()).sum())
    longest = max(float(np.sqrt((b * b).sum(axis=1)).max()) for b in blocks)
    reach = longest * float(np.sqrt((w * w).sum()))
    error = C * (slip + 8 * (len(w) + 4) * EPS_OF_REAL * reach)
    error += 4 * (n + 4) * EPS_OF_REAL * C * (1 + 4 * reach)
    length = float(np.sqrt(((w - v) ** 2).sum()))
    off = (n + len(lam) + 2) * EPS_OF_REAL * spread
    error += length * off + off**2 / 2
    gap = float(residual) + length**2 / 2 + error
    primal = float((w * w).sum() / 2 + C * value) + error
    primal += EPS * abs(primal)  # rounded to a float
    terms = {
        "1/2||w - v||^2, v the dual's weights": length**2 / 2,
        "sum_t lambda_t (L(s) - Delta_t - <c_t,s>)": float(residual),
        "rounding": float(error),
    }
    return ModelCertificate(primal, primal - gap, gap, error, moved, terms)
