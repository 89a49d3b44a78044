"""Certificates of AP models as users hand them over: checked arguments of `refsolve.proofs.ranking_model`."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve.proofs import ranking_truth
from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.erm import EXTENDED
from refsolve.proofs.model import ModelCertificate
from refsolve.proofs.ranking_losses import AVERAGE_PRECISION, RankingLoss
from refsolve.proofs.ranking_model import Dual, Easy, Queries, Query
from refsolve.proofs.ranking_truth import mask
from refsolve.proofs.space import Space, Sparse
from verification.certificates.model import dense
from verification.errors import InvalidArgumentError


def ranking_erm(
    coef: ArrayLike | None,
    X: Array | Sparse,
    y: ArrayLike,
    *,
    C: float,
    rankings: ArrayLike,
    weights: ArrayLike,
    **more: Any,
) -> ModelCertificate:
    """Certify w for min 1/2||w||^2 + C L(Xw), L the mean of the AP loss (or another) over the queries.

    Parameters
    ----------
    coef : (d,) or (1, d) array
        w; None for that of the rankings.
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
    loss : RankingLoss, optional
        Default that of average precision.

    Returns
    -------
    ModelCertificate

    Raises
    ------
    InvalidArgumentError
        If shapes do not fit, or a row of ``rankings`` is no ranking; the easy examples violated
        by 1 or more.
    """
    dual = dual_point(X, y, C=C, rankings=rankings, weights=weights, **more)
    w = dual.v if coef is None else np.asarray(coef, dtype=Real).ravel()
    width = dual.space.width
    if width != len(w) or not np.isfinite(w).all():
        raise InvalidArgumentError(f"coef of shape {w.shape}: expected finite ({width},) to fit X")
    proof = dual.prove(w)
    if np.isinf(proof.short):
        raise InvalidArgumentError(
            "coef: an easy example misses its margin by 1 or more; nothing is certain about a model "
            "that is not feasible"
        )
    return ModelCertificate.of(proof)


def rows(X: Array | Sparse) -> Space:
    """Examples, in extended precision where that is affordable."""
    return Space(X, real=Real if X.shape[0] * X.shape[1] <= EXTENDED else np.float64)


def dual_point(
    X: Array | Sparse,
    y: ArrayLike,
    *,
    C: float,
    rankings: ArrayLike,
    weights: ArrayLike,
    groups: ArrayLike | None = None,
    reference: ArrayLike | None = None,
    easy: ArrayLike | None = None,
    easy_weights: ArrayLike | None = None,
    loss: RankingLoss = AVERAGE_PRECISION,
) -> Dual:
    """The dual point of checked arguments, a lower bound on the optimum; see `ranking_erm`."""
    positives, n = mask(y), X.shape[0]
    if positives.shape != (n,):
        raise InvalidArgumentError(f"y of shape {positives.shape}: expected ({n},) to fit X")
    inversions, lam = check_rankings(rankings, weights, n)
    hard = np.ones(n, dtype=bool) if easy is None else ~np.asarray(easy, dtype=bool)
    queries = Queries(n, tuple(_queries(positives, hard, groups)), loss)
    fixed = None if reference is None else np.asarray(reference)
    for row in inversions if fixed is None else (*inversions, fixed):
        _check_ranking(queries, row)
    signs = np.where(hard, 0, np.where(positives, 1, -1)).astype(Real)
    mu = None if easy_weights is None else np.asarray(easy_weights, dtype=Real)
    easy_rows = Easy(signs)
    return Dual(rows(X), queries, C, inversions, lam, reference=fixed, easy=easy_rows, mu=mu)


def _queries(positives: Array, hard: Array, groups: ArrayLike | None) -> list[Query]:
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


def check_rankings(rankings: ArrayLike, weights: ArrayLike, n: int) -> tuple[Array, Array]:
    """Inversions (m, n) and weights (m,), or an error about their shapes."""
    inversions, lam = np.asarray(rankings), np.asarray(weights, dtype=Real)
    whole = inversions.dtype.kind in "iu"
    if lam.ndim != 1 or inversions.shape != (len(lam), n) or not whole:
        raise InvalidArgumentError(
            f"rankings of shape {inversions.shape} and dtype {inversions.dtype}: expected integers "
            f"({lam.size}, {n}), a row per weight"
        )
    return inversions, lam


def _check_ranking(queries: Queries, inversions: Array) -> None:
    if defect := queries.defect(inversions):
        raise InvalidArgumentError(f"rankings: {defect}")


# ---- bags of candidates


def latent_risk(w: Array, bags: Sequence[ArrayLike], y: ArrayLike, C: float) -> float:
    """J(w) = 1/2||w||^2 + C L(s), every bag scored by its best candidate."""
    scores = np.array([(np.asarray(bag) @ w).max() for bag in bags])
    return float(w @ w) / 2 + C * float(ranking_truth.solve(scores, y).value)


def latent_erm(
    coef: ArrayLike,
    bags: Sequence[ArrayLike],
    y: ArrayLike,
    *,
    C: float,
    rankings: ArrayLike,
    weights: ArrayLike,
    candidates: ArrayLike,
    groups: ArrayLike | None = None,
) -> ModelCertificate:
    """Certify w for the convex step that fixed the candidates of the positive bags.

    A bag's score is the best of its candidates; a step fixes that of each positive bag. For negative
    bags the best one stays inside L, which does not fall in their scores. P bounds the objective J, in
    which positive bags take their best, too.

    Parameters
    ----------
    coef : (d,) or (1, d) array
        w.
    bags : sequence of (n_candidates_i, d) arrays or sparse matrices
    y : (n,) array
        Label of each bag.
    C, rankings, weights, groups
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
    positives, blocks = mask(y), [np.asarray(dense(bag), dtype=Real) for bag in bags]
    w, n = np.asarray(coef, dtype=Real).ravel(), len(blocks)
    inversions, lam = check_rankings(rankings, weights, n)
    chosen, sizes = np.asarray(candidates), np.array([len(block) for block in blocks])
    if chosen.shape != inversions.shape or (chosen < 0).any() or (chosen >= sizes).any():
        raise InvalidArgumentError(
            f"candidates of shape {chosen.shape}: expected {inversions.shape}, each in its bag"
        )
    if (chosen[:, positives] != chosen[:1, positives]).any():
        raise InvalidArgumentError("candidates: a step fixes one candidate per positive bag")
    queries = Queries(n, tuple(_queries(positives, np.ones(n, dtype=bool), groups)))
    for row in inversions:
        _check_ranking(queries, row)
    starts = np.cumsum(sizes) - sizes
    seen = starts + np.array([int((block @ w).argmax()) for block in blocks])
    if len(chosen):
        seen = np.where(positives, starts + chosen[0], seen)
    space = Space(np.concatenate(blocks), real=Real)
    dual = Dual(space, queries, C, inversions, lam, rows=(starts + chosen).astype(np.intp))
    return ModelCertificate.of(dual.prove(w, seen=seen))
