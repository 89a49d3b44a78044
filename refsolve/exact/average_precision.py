"""Loss-augmented inference for a loss over rankings in Fractions: all interleavings, permutations, greedy sums.

Three roads that share no formula: `enumerate_rankings` takes positives and negatives by score and
lists every interleaving, `permute` lists every order of all n samples and counts, `greedy` adds up
max_i delta_j(i).
"""

import itertools
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from refsolve import exact
from refsolve._ranking import check_relevance
from refsolve._types import Array, Scalar
from refsolve.errors import InvalidParameterError
from refsolve.proofs.ranking_losses import AVERAGE_PRECISION, RankingLoss
from refsolve.spec import check_vector

#: Rankings that are listed at most.
MAX_RANKINGS = 100_000
Inversions = tuple[int, ...]


@dataclass(frozen=True)
class ExactInference:
    """The most violated rankings, exactly.

    Attributes
    ----------
    value : Fraction
        L, the largest Delta + <coefficients, s>.
    delta : Fraction
        Delta of ``inversions``.
    inversions : tuple of int
        The maximiser with the fewest inversions, in input order.
    maximisers : tuple of tuples of int
        All maximisers found, the fewest inversions first. `enumerate_rankings` lists one order of
        tied scores, `permute` all; `greedy` only its own.
    """

    value: Fraction
    delta: Fraction
    inversions: Inversions
    maximisers: tuple[Inversions, ...]


def checked(scores: Sequence[Scalar] | Array, y: ArrayLike) -> tuple[list[Fraction], list[bool]]:
    """Scores as the rational numbers that they are, and the mask of the positives."""
    if isinstance(scores, Sequence) and any(isinstance(v, Fraction) for v in scores):
        exactly = [exact.rational(v) for v in scores]
    else:
        exactly = [exact.rational(v) for v in check_vector("scores", scores)]
    return exactly, [bool(v) for v in check_relevance(y, len(exactly))]


def loss(counts: Sequence[int], of: RankingLoss = AVERAGE_PRECISION) -> Fraction:
    """(1/norm) sum terms(k, c_k), c ascending; logarithms are rounded to 45 digits."""
    lost = [of.term(k, c) for k, c in enumerate(sorted(counts), 1)]
    return sum(lost, Fraction(0)) / of.whole(len(lost))


def objective(
    scores: Sequence[Fraction], positive: Sequence[bool], inversions: Inversions,
    of: RankingLoss = AVERAGE_PRECISION,
) -> Any:  # fmt: skip
    """Delta + <s, Psi(R) - Psi(R*)> of a ranking, and its Delta."""
    P, N = sum(positive), len(positive) - sum(positive)
    of_ranking = loss([v for v, p in zip(inversions, positive, strict=True) if p], of)
    moved = sum(
        (-v * s if p else v * s for v, s, p in zip(inversions, scores, positive, strict=True)),
        Fraction(0),
    )
    return of_ranking + Fraction(2, P * N) * moved, of_ranking


def _best(
    scores: list[Fraction], positive: list[bool], listed: Iterable[Inversions], of: RankingLoss
) -> ExactInference:
    value: Fraction | None = None
    found: list[Inversions] = []
    for inversions in listed:
        here = objective(scores, positive, inversions, of)[0]
        if value is None or here > value:
            value, found = here, []
        if here == value:
            found.append(inversions)
    assert value is not None
    found.sort(key=lambda v: (sum(v), v))
    return ExactInference(value, objective(scores, positive, found[0], of)[1], found[0], tuple(found))


def by_score(scores: list[Fraction], positive: list[bool]) -> tuple[list[int], list[int]]:
    """Indices of positives and negatives by falling score, the first of equals first."""
    order = sorted(range(len(scores)), key=lambda i: -scores[i])
    return [i for i in order if positive[i]], [i for i in order if not positive[i]]


def enumerate_rankings(
    scores: Sequence[Scalar] | Array, y: ArrayLike, of: RankingLoss = AVERAGE_PRECISION
) -> ExactInference:
    """Best of the (P+N over P) interleavings of the samples, sorted by score within the classes."""
    s, positive = checked(scores, y)
    above, below = by_score(s, positive)
    P, N = len(above), len(below)
    _refuse(math.comb(P + N, P), len(s))

    def listed() -> Any:
        for counts in itertools.combinations_with_replacement(range(N + 1), P):
            inversions = [0] * len(s)
            for i, c in zip(above, counts, strict=True):
                inversions[i] = c
            for j, sample in enumerate(below, 1):
                inversions[sample] = sum(c >= j for c in counts)
            yield tuple(inversions)

    return _best(s, positive, listed(), of)


def permute(
    scores: Sequence[Scalar] | Array, y: ArrayLike, of: RankingLoss = AVERAGE_PRECISION
) -> ExactInference:
    """Best of all n! orders, the inversions counted pair by pair; nothing is sorted."""
    s, positive = checked(scores, y)
    _refuse(math.factorial(len(s)), len(s))

    def count(order: tuple[int, ...]) -> Inversions:
        inversions = [0] * len(s)
        for place, high in enumerate(order):
            for low in order[place + 1 :]:
                if positive[low] and not positive[high]:
                    inversions[low] += 1
                    inversions[high] += 1
        return tuple(inversions)

    orders = itertools.permutations(range(len(s)))
    return _best(s, positive, dict.fromkeys(count(order) for order in orders), of)


def gains(
    scores: Sequence[Scalar] | Array, y: ArrayLike, of: RankingLoss = AVERAGE_PRECISION
) -> list[list[Fraction]]:
    """h_k(j), one list per negative by falling score, k = 1..P by falling score."""
    s, positive = checked(scores, y)
    above, below = by_score(s, positive)
    P, N = len(above), len(below)
    return [
        [
            of.step(k, j) / of.whole(P) - Fraction(2, P * N) * (s[i] - s[sample])
            for k, i in enumerate(above, 1)
        ]
        for j, sample in enumerate(below, 1)
    ]


def sums(column: Sequence[Fraction]) -> list[Fraction]:
    """delta_j(1), ..., delta_j(P+1) = 0 from the gains of one negative."""
    return list(itertools.accumulate(reversed(column), initial=Fraction(0)))[::-1]


def greedy(
    scores: Sequence[Scalar] | Array, y: ArrayLike, of: RankingLoss = AVERAGE_PRECISION
) -> ExactInference:
    """The value is sum_j max_i delta_j(i), an upper bound; the ranking takes each last maximiser.

    O(PN) rational operations. That the two agree is not assumed: compare ``value`` with
    `objective` of the inversions.
    """
    s, positive = checked(scores, y)
    above, below = by_score(s, positive)
    value, opt = Fraction(0), []
    for column in gains(scores, y, of):
        delta = sums(column)
        best = max(delta)
        value += best
        opt.append(max(i for i, d in enumerate(delta, 1) if d == best))
    inversions = [0] * len(s)
    for sample, i in zip(below, opt, strict=True):
        inversions[sample] = len(above) + 1 - i
    for k, sample in enumerate(above, 1):
        inversions[sample] = sum(i <= k for i in opt)
    found = tuple(inversions)
    return ExactInference(value, objective(s, positive, found, of)[1], found, (found,))


def array(inference: ExactInference) -> np.ndarray[Any, Any]:
    """The inversions as int64."""
    return np.array(inference.inversions, np.int64)


def _refuse(count: int, n: int) -> None:
    if count > MAX_RANKINGS:
        raise InvalidParameterError(
            "scores", f"{n} samples, {count} rankings", f"at most {MAX_RANKINGS} rankings",
            "use refsolve.exact.average_precision.greedy, which lists nothing",
        )  # fmt: skip
