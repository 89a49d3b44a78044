"""Rankings of positives and negatives in rational arithmetic, from their definitions.

A strict ranking is the tuple of samples from the top down. A weak one gives each sample a level,
0 on top; samples of one level are tied. Rankings of sorted scores are also given by their counts:
c_1 <= ... <= c_P negatives above the positives, the interleavings of two sorted lists. What is
computed here by enumeration uses none of the paper's results.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate, combinations_with_replacement, pairwise, permutations, product

from verification.paper_statements._rational import Vector, draw_vector
from verification.paper_statements._trial import Inputs, Rng

ONE = Fraction(1)
ZERO = Fraction(0)

Counts = Sequence[int]
Labels = tuple[int, ...]
Ranking = tuple[int, ...]
Score = Callable[[Labels, Vector], Fraction]

# ---------------------------------------------------------------------------- single rankings


def average_precision(relevant: Sequence[int]) -> Fraction:
    """AP of a strict ranking: mean over the positives of the precision down to each of them."""
    places = [place for place, label in enumerate(relevant, 1) if label]
    return sum((Fraction(k, place) for k, place in enumerate(places, 1)), ZERO) / len(places)


def matrix(levels: Sequence[int]) -> list[list[int]]:
    """Ranking matrix: R_ij = 1 if i stands above j, -1 if below, 0 if they are tied."""
    return [[(b > a) - (b < a) for b in levels] for a in levels]


def levels_of(order: Sequence[int]) -> list[int]:
    """Levels of a strict ranking, by sample."""
    places = [0] * len(order)
    for place, sample in enumerate(order):
        places[sample] = place
    return places


def truth(labels: Sequence[int]) -> list[int]:
    """Levels of R*: the positives tied on top, the negatives tied below."""
    return [1 - label for label in labels]


def joint_feature(labels: Sequence[int], levels: Sequence[int], features: Vector) -> Fraction:
    """Psi by (1) for one feature; <w,Psi> if the features are the scores."""
    r = matrix(levels)
    positives = [i for i, label in enumerate(labels) if label]
    negatives = [j for j, label in enumerate(labels) if not label]
    pairs = product(positives, negatives)
    total = sum((r[i][j] * (features[i] - features[j]) for i, j in pairs), ZERO)
    return total / (len(positives) * len(negatives))


def above(labels: Sequence[int], levels: Sequence[int], sample: int, label: int) -> int:
    """How many samples with that label stand above the sample."""
    return sum(
        level < levels[sample] and other == label
        for level, other in zip(levels, labels, strict=True)
    )


def below(labels: Sequence[int], levels: Sequence[int], sample: int, label: int) -> int:
    """How many samples with that label stand below the sample."""
    return sum(
        level > levels[sample] and other == label
        for level, other in zip(levels, labels, strict=True)
    )


@lru_cache
def strict_rankings(n: int) -> tuple[tuple[int, ...], ...]:
    """All n! strict rankings."""
    return tuple(permutations(range(n)))


@lru_cache
def weak_rankings(n: int) -> tuple[tuple[int, ...], ...]:
    """All weak rankings, by their levels."""
    found = (levels for levels in product(range(n), repeat=n))
    return tuple(levels for levels in found if set(levels) == set(range(max(levels) + 1)))


def resolutions(levels: tuple[int, ...]) -> list[tuple[int, ...]]:
    """The strict rankings that a weak one leaves possible."""
    return [
        order
        for order in strict_rankings(len(levels))
        if all(levels[a] <= levels[b] for a, b in pairwise(order))
    ]


@lru_cache(maxsize=4096)
def precisions(labels: tuple[int, ...], levels: tuple[int, ...]) -> tuple[Fraction, ...]:
    """AP of each strict ranking that the weak one leaves possible."""
    return tuple(average_precision([labels[i] for i in order]) for order in resolutions(levels))


def levels_by_score(scores: Vector) -> tuple[int, ...]:
    """The weak ranking by score, equal scores tied."""
    values = sorted(set(scores), reverse=True)
    return tuple(values.index(s) for s in scores)


# ----------------------------------------------------------------- sorted scores, interleavings


def interleavings(p: int, n: int) -> Iterator[tuple[int, ...]]:
    """Counts of all interleavings of p positives and n negatives."""
    return combinations_with_replacement(range(n + 1), p)


def ap_loss(counts: Counts) -> Fraction:
    """1 - AP, written for counts in ascending order."""
    p = len(counts)
    return 1 - sum((Fraction(k, k + c) for k, c in enumerate(counts, 1)), ZERO) / p


def score_change(counts: Counts, s: Vector, t: Vector) -> Fraction:
    """<w,Psi(R)> - <w,Psi(R*)>: each of the c_k pairs turned round costs 2(s_k - t_j)/(PN)."""
    turned = (s[k] - t[j] for k, c in enumerate(counts) for j in range(c))
    return Fraction(-2, len(s) * len(t)) * sum(turned, ZERO)


def objective(counts: Counts, s: Vector, t: Vector) -> Fraction:
    """Loss plus change of score of the ranking with these counts."""
    return ap_loss(counts) + score_change(counts, s, t)


def slack(s: Vector, t: Vector) -> Fraction:
    """L: the largest objective of all interleavings (s, t sorted in descending order)."""
    p, n = len(s), len(t)
    prefix = [ZERO, *accumulate(t)]
    table = [
        [
            Fraction(c, p * (k + c)) - Fraction(2, p * n) * (c * s[k - 1] - prefix[c])
            for c in range(n + 1)
        ]
        for k in range(1, p + 1)
    ]
    return max(
        sum((row[c] for row, c in zip(table, counts, strict=True)), ZERO)
        for counts in interleavings(p, n)
    )


def counts_of(ranks: Sequence[int], p: int) -> list[int]:
    """Negatives above each positive, from the negatives' interleaving ranks in 1..P+1."""
    return [sum(rank <= k for rank in ranks) for k in range(1, p + 1)]


def pairs_turned(ranks: Sequence[int], s: Vector, t: Vector) -> Fraction:
    """Objective of the ranking in which negative j stands just above positive ranks[j].

    Valid for ranks in any order, where the counts alone would name other negatives.
    """
    p, n = len(s), len(t)
    turned = (s[k - 1] - t[j] for j, rank in enumerate(ranks) for k in range(rank, p + 1))
    return ap_loss(counts_of(ranks, p)) - Fraction(2, p * n) * sum(turned, ZERO)


# ------------------------------------------------------------------- interleaving ranks, by (5)


def term(k: int, j: int, s: Vector, t: Vector) -> Fraction:
    """h_k(j): what the summand of (5) is for positive k and negative j, counted from 1."""
    p, n = len(s), len(t)
    return Fraction(k, p * (j + k) * (j + k - 1)) - 2 * (s[k - 1] - t[j - 1]) / (p * n)


def delta(j: int, s: Vector, t: Vector) -> list[Fraction]:
    """delta_j(1), ..., delta_j(P+1) = 0: sums of (5) from each rank on."""
    p = len(s)
    sums = accumulate((term(k, j, s, t) for k in range(p, 0, -1)), initial=ZERO)
    return list(sums)[::-1]


def maximisers(values: Sequence[Fraction]) -> list[int]:
    """Places, counted from 1, of the largest value."""
    most = max(values)
    return [i for i, value in enumerate(values, 1) if value == most]


def first(holds: Callable[[int], bool], low: int, high: int) -> int:
    """The least of low, ..., high from which on `holds` is true, by halving; it is not asked at high.

    Where its values are in another order, it is where the halving ends.
    """
    return low + bisect_left(range(low, high), True, key=holds)


# -------------------------------------------------------------------------------------- draws


def draw_lists(rng: Rng, p: int = 4, n: int = 5) -> Inputs:
    """Sorted scores of up to p positives and n negatives, with ties, and ties in (5) as well."""
    positives, negatives = int(rng.integers(1, p + 1)), int(rng.integers(1, n + 1))
    width = int(rng.choice([1, 2, 4]))
    t = sorted(draw_vector(rng, negatives, width, int(rng.choice([2, 4, 6]))), reverse=True)
    s = sorted(draw_vector(rng, positives, width, int(rng.choice([2, 4, 6]))), reverse=True)
    kind = rng.random()
    j = int(rng.integers(1, negatives + 1))
    if kind < 0.5:  # around the scores at which the summands of (5) for negative j are 0
        even = [
            t[j - 1] + Fraction(negatives * k, 2 * (j + k) * (j + k - 1))
            for k in range(1, positives + 1)
        ]
        s = [v + Fraction(int(rng.integers(-1, 2)), 8) for v in even]
        if kind < 0.25:  # equal positives: the summands differ by their first part alone
            s = [even[int(rng.integers(positives))]] * positives
        s.sort(reverse=True)
    return {"s": s, "t": t}


def draw_samples(rng: Rng, most: int = 5, fine: int = 2) -> Inputs:
    """Labels and scores of a few samples in any order, at least one of each class."""
    n = int(rng.integers(2, most + 1))
    labels = [int(v) for v in rng.integers(0, 2, n)]
    if len(set(labels)) == 1:
        labels[int(rng.integers(n))] ^= 1
    return {"labels": tuple(labels), "scores": draw_vector(rng, n, 4 // fine, fine)}
