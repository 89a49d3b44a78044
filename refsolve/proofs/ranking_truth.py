"""Exact loss-augmented inference for a loss over rankings, certified by its own bound.

A ranking of P positives and N negatives counts as its **inversions**: for a positive the negatives
above it, for a negative the positives below it. Its objective is Delta + <coefficients, scores>,

    Delta of c ascending,   coefficients = -2c/(PN) at positives, 2t/(PN) at negatives.

With both kinds of scores descending, sum_j max_i delta_j(i) over i = 1..P+1,
delta_j(i) = sum_{k>=i} [steps(k,j)/norm - 2(s_k - s_j)/(PN)], bounds every objective; the ranking made
of the maximisers attains it, which is checked by the definition above (`refsolve.proofs.ranking_losses`).
All numbers are integers in units of 1/(PN M D), with M the common denominator of the steps and D that of
the scores, so that nothing is rounded; logarithms have their own error bound. Beyond `LIMIT` pairs the
same sums run in extended precision with an error bound.
"""

import functools
import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve.errors import UncertainError
from refsolve.proofs.certificate import Array, Real
from refsolve.proofs.ranking_losses import AVERAGE_PRECISION, RankingLoss
from refsolve.proofs.rationals import exact
from refsolve.proofs.space import chunks

#: Pairs of a positive and a negative up to which arithmetic is exact.
LIMIT = 100_000
#: Entries of the table of gains that are held at once.
PAIRS_AT_ONCE = 1_000_000
EXTENDED = float(np.finfo(Real).eps)


class UnprovedError(UncertainError):
    """A maximum that does not attain its own bound: nothing is known."""


@dataclass(frozen=True)
class Optimum:
    """The value of the loss, known up to ``error``, and inversions (n,) of a ranking that attains it."""

    value: Fraction
    error: float
    inversions: Array


def mask(y: ArrayLike) -> Array:
    """Where the positives are."""
    return np.asarray(y) > 0


def ranking_defect(y: ArrayLike, inversions: Array) -> str | None:
    """Why integers are not the inversions of any ranking: the two sides must be conjugate partitions."""
    positives = mask(y)
    c, t = inversions[positives], inversions[~positives]
    P, N = len(c), len(t)
    if inversions.min() < 0 or c.max() > N or t.max() > P:
        return f"inversions {inversions.tolist()} are not in 0..{N} and 0..{P}"
    # the j-th negative from the top is above the positives with at least j negatives above them
    conjugate = P - np.searchsorted(np.sort(c), np.arange(1, N + 1), side="left")
    if not np.array_equal(conjugate, -np.sort(-t)):
        return (
            f"no ranking has {c.tolist()} negatives above its positives and {t.tolist()} positives "
            "below its negatives"
        )
    return None


def loss(y: ArrayLike, inversions: Array, of: RankingLoss = AVERAGE_PRECISION) -> Fraction:
    """Delta, exactly."""
    c = np.sort(inversions[mask(y)]).tolist()
    return sum((of.term(k, n) for k, n in enumerate(c, 1)), Fraction(0)) / of.whole(len(c))


def objective(
    scores: Array, y: ArrayLike, inversions: Array, limit: int = LIMIT,
    of: RankingLoss = AVERAGE_PRECISION,
) -> tuple[Fraction, float]:  # fmt: skip
    """Delta + <coefficients, scores> of a ranking, and a bound on the error (that of ``of`` up to ``limit``)."""
    positives = mask(y)
    pairs = int(positives.sum()) * int((~positives).sum())
    signed = np.where(positives, -inversions, inversions)
    if pairs <= limit:
        total = sum(
            (int(c) * exact(s) for c, s in zip(signed.tolist(), scores.tolist(), strict=True) if c),
            Fraction(0),
        )
        return loss(y, inversions, of) + 2 * total / pairs, float(2 * len(scores) * of.error)
    terms = 2 * signed.astype(Real) * scores.astype(Real) / pairs
    value = of.delta(inversions[positives]) + terms.sum()
    error = (2 * len(scores) + 8) * EXTENDED * (1 + float(np.abs(terms).sum()))
    return exact(value), error


def solve(
    scores: Array, y: ArrayLike, limit: int = LIMIT, of: RankingLoss = AVERAGE_PRECISION
) -> Optimum:
    """The loss with a ranking that attains it (of those, the one with fewest inversions).

    Arithmetic is exact up to ``limit`` pairs, but for logarithms.

    Raises
    ------
    UnprovedError
        If the ranking does not attain the bound, so that nothing is known.
    """
    positives = mask(y)
    up, down = np.flatnonzero(positives), np.flatnonzero(~positives)
    up = up[np.argsort(-scores[up], kind="stable")]
    down = down[np.argsort(-scores[down], kind="stable")]
    P, N = len(up), len(down)
    table: Callable[[slice], Array]
    pairs = P * N
    if pairs <= limit:
        unit, table = _exact_gains(of, scores[up].tolist(), scores[down].tolist())
        bound_error = float(2 * (pairs + 1) * of.error)
    else:
        unit = Fraction(pairs)
        size = float(np.abs(scores).max())
        bound_error = 4 * (P + 8) * EXTENDED * (1 + 4 * size)
        table = functools.partial(_extended_gains, of, scores[up], scores[down])
    bound, below = _maxima(table, P, N)
    inversions = np.zeros(P + N, dtype=np.int64)
    inversions[down] = below
    # ascending counts by position: positive i has below it the negatives with below > P - i
    inversions[up] = N - np.searchsorted(np.sort(below), np.arange(P, 0, -1), side="left")
    value = exact(bound) / unit
    attained, error = objective(scores, y, inversions, limit, of)
    if defect := ranking_defect(y, inversions):
        raise UnprovedError(f"the maximisers are no ranking: {defect}")
    if abs(value - attained) > bound_error + error:
        raise UnprovedError("the ranking of the maximisers does not attain the bound")
    return Optimum(attained, bound_error + error, inversions)


def _maxima(gains: Callable[[slice], Array], P: int, N: int) -> tuple[Any, Array]:
    """The sum over j of max_i delta_j(i), and how many positives the largest maximiser puts below j."""
    total: Any = 0
    below = np.zeros(N, dtype=np.int64)
    for rows in chunks(N, max(1, PAIRS_AT_ONCE // P)):
        h = gains(rows)
        # column m holds the gain of the last m positives; the first of equals has fewest inversions
        suffix = np.zeros((h.shape[0], P + 1), dtype=h.dtype)
        suffix[:, 1:] = np.cumsum(h[:, ::-1], axis=1)
        best = suffix.argmax(axis=1)
        below[rows] = best
        total = total + suffix[np.arange(len(best)), best].sum()
        # gains fall with j in every column: below a negative that stays at the bottom all do
        if best[-1] == 0:
            break
    return total, below


@functools.lru_cache(maxsize=64)
def _slopes(of: RankingLoss, P: int, N: int) -> tuple[int, Array]:
    """M, and the integers M P steps(k, j)/norm over (j, k); those of logarithms are rounded down."""
    if of.error:
        M, whole = int(1 / of.error), P / of.whole(P)
        found = [[int(M * whole * of.step(k, j)) for k in range(1, P + 1)] for j in range(1, N + 1)]
        return M, np.array(found, dtype=object)
    M = math.lcm(*range(1, P + N + 1))
    j, k = np.arange(1, N + 1, dtype=object)[:, None], np.arange(1, P + 1, dtype=object)
    return M, M * k // ((j + k) * (j + k - 1))


def _exact_gains(
    of: RankingLoss, up: list[Any], down: list[Any]
) -> tuple[Fraction, Callable[[slice], Array]]:
    """The unit, and P N h_k(j) in it as Python integers."""
    P, N = len(up), len(down)
    M, slopes = _slopes(of, P, N)
    scores = [exact(s) for s in (*up, *down)]
    D = math.lcm(*(s.denominator for s in scores))
    whole = np.array([int(s * D) for s in scores] + [None], dtype=object)[:-1]
    cost = 2 * M * (whole[:P] - whole[P:, None])
    return Fraction(P * N * M * D), lambda rows: N * D * slopes[rows] - cost[rows]


def _extended_gains(of: RankingLoss, up: Array, down: Array, rows: slice) -> Array:
    """P N h_k(j) in extended precision."""
    j = np.arange(rows.start + 1, rows.stop + 1, dtype=Real)[:, None]
    k = np.arange(1, len(up) + 1, dtype=Real)
    margin = up.astype(Real) - down[rows].astype(Real)[:, None]
    return len(down) * (len(up) / of.norm(len(up))) * of.steps(k, j) - 2 * margin
