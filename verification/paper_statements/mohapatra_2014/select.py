"""Selecting the negatives that matter: algorithm 3 and section 3.2."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from math import ceil, log2
from operator import eq, ge, gt, le, lt

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import (
    Labels,
    above,
    average_precision,
    below,
    delta,
    draw_lists,
    draw_samples,
    first,
    joint_feature,
    levels_of,
    maximisers,
    pairs_turned,
    slack,
)
from verification.paper_statements._rational import Vector, vector
from verification.paper_statements.mohapatra_2014 import stated
from verification.paper_statements.mohapatra_2014.search import Column, corrected, draw_many

# ==========================================================================================
# Algorithm 3, selective ranking: which negatives it searches, and what finding them costs.
# ==========================================================================================


def threshold(s: Vector, t: Vector) -> Fraction | None:
    """The largest score below which every negative has the rank P+1; None if all have it."""
    # by the first property the negatives of a rank <= P come first
    found = first(lambda j: corrected(Column(j + 1, s, t)) > len(s), 0, len(t))
    return t[found - 1] if found else None


#: (score, threshold) -> whether the negative gets Algorithm 2
Searched = Callable[[Fraction, Fraction], bool]


def selective(s: Vector, t: Vector, searched: Searched) -> list[int]:
    """Ranks by Algorithm 3, in the order of t."""
    bound = threshold(s, t)
    if bound is None:
        return [len(s) + 1] * len(t)
    return [
        corrected(Column(j, s, t)) if searched(v, bound) else len(s) + 1 for j, v in enumerate(t, 1)
    ]


def _check(trial: Trial, *, s: Vector, t: Vector, searched: Searched) -> None:
    ranks = selective(s, t, searched)
    value, largest = pairs_turned(ranks, s, t), slack(s, t)
    trial.exactly(
        value == largest,
        "the ranking is not the most violated one",
        ranks=ranks,
        objective=value,
        largest=largest,
    )


PRINTED = stated(
    "Algorithm 3 as our scan reads",
    draw=draw_lists,
    check=_check,
    says={"searched": lt},
    right={"searched": ge},
)

RIGHT = PRINTED.corrected(
    "Algorithm 3, corrected",
    wrong={
        "as printed": {"searched": lt},
        "not at s^ itself": {"searched": gt},
        "none": {"searched": lambda v, bound: False},
    },
)


def _check_same(trial: Trial, *, s: Vector, t: Vector, searched: Searched) -> None:
    every = [corrected(Column(j, s, t)) for j in range(1, len(t) + 1)]
    found = selective(s, t, searched)
    trial.exactly(found == every, "other ranks", selective=found, all_searched=every)


SAME = stated(
    "Algorithms 1, 2 and 3",
    draw=draw_many,
    check=_check_same,
    says={"searched": ge},
    wrong={"Algorithm 3 as printed": {"searched": lt}, "not at s^ itself": {"searched": gt}},
)

# -------------------------------------------------------------------------------------- the cost


def _draw_active(rng: Rng) -> Inputs:
    n = int(rng.integers(2000, 4000))
    return {
        "n": n,
        "active": int(rng.choice([0, int(rng.integers(n + 1)), int(rng.integers(20))])),
        "seed": int(rng.integers(1 << 30)),
    }


class Negatives:
    """Unsorted scores, the k-th largest by quickselect, and how many of them were touched."""

    def __init__(self, n: int, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.scores = [int(v) for v in self.rng.permutation(n)]
        self.touched = 0

    def select(self, scores: list[int], k: int) -> tuple[int, list[int], list[int]]:
        """The k-th largest (from 0) of distinct scores, those above it, those below it."""
        higher: list[int] = []
        lower: list[int] = []
        while True:
            pivot = scores[int(self.rng.integers(len(scores)))]
            self.touched += len(scores)
            top = [v for v in scores if v > pivot]
            if k < len(top):
                lower += [v for v in scores if v <= pivot]
                scores = top
            elif k > len(top):
                higher += [v for v in scores if v >= pivot]
                k -= len(top) + 1
                scores = [v for v in scores if v < pivot]
            else:
                return pivot, higher + top, lower + [v for v in scores if v < pivot]


def over_all(negatives: Negatives, active: int) -> int:
    """Number of active negatives by binary search, each step a quickselect over all scores."""
    n = len(negatives.scores)
    return first(lambda k: n - 1 - negatives.select(negatives.scores, k)[0] >= active, 0, n)


def over_the_rest(negatives: Negatives, active: int) -> int:
    """The same over the scores that are still in question."""
    before, rest = 0, negatives.scores
    while rest:
        middle = len(rest) // 2
        value, higher, lower = negatives.select(rest, middle)
        if len(negatives.scores) - 1 - value < active:
            before += middle + 1
            rest = lower
        else:
            rest = higher
    return before


def _check_cost(
    trial: Trial,
    *,
    n: int,
    active: int,
    seed: int,
    search: Callable[[Negatives, int], int],
    cost: Callable[[int], int],
) -> None:
    negatives = Negatives(n, seed)
    found = search(negatives, active)
    trial.exactly(found == active, "another number of negatives to search", found=found)
    trial.exactly(
        negatives.touched <= cost(n),
        "more scores are touched",
        touched=negatives.touched,
        touched_per_score=Fraction(negatives.touched, n),
    )


def comparisons_of_a_sort(n: int) -> int:
    """N ceil(log2 N), for which merging sorts."""
    return n * ceil(log2(n))


COST_PRINTED = stated(
    "Algorithm 3, cost of s^",
    draw=_draw_active,
    check=_check_cost,
    says={"search": over_all, "cost": comparisons_of_a_sort},
    right={"search": over_the_rest},
)

COST_RIGHT = COST_PRINTED.corrected(
    says={"cost": lambda n: 14 * n},
    wrong={"from all N": {"search": over_all}, "a sixth of it": {"cost": lambda n: 14 * n // 6}},
)


# ==========================================================================================
# Section 3.2: the order of the ranks opt_j, and what the joint feature and the AP depend on.
# ==========================================================================================


def argmaxes(s: Vector, t: Vector) -> list[list[int]]:
    """All optimal ranks of each negative, in {1..P+1}."""
    return [maximisers(delta(j, s, t)) for j in range(1, len(t) + 1)]


# ------------------------------------------------------------------------------------- monotone


def _check_order(
    trial: Trial, *, s: Vector, t: Vector, relation: Callable[[int, int], bool]
) -> None:
    """relation(opt_k, opt_j) for k < j and every choice of the two."""
    ranks = argmaxes(s, t)
    pairs = [
        (k + 1, j + 1)
        for k, j in combinations(range(len(t)), 2)
        if not all(relation(a, b) for a in ranks[k] for b in ranks[j])
    ]
    trial.exactly(
        not pairs, "the ranks of two negatives are in another order", pairs=pairs, ranks=ranks
    )


ORDER_PRINTED = stated(
    "Section 3.2, order of opt_j",
    draw=draw_many,
    check=_check_order,
    says={"relation": ge},
    right={"relation": le},
)

ORDER_RIGHT = ORDER_PRINTED.corrected(
    wrong={"as printed": {"relation": ge}, "all equal": {"relation": eq}}
)


def _check_first(
    trial: Trial,
    *,
    s: Vector,
    t: Vector,
    follows: Callable[[int, int], bool],
    rank: Callable[[int], int],
) -> None:
    ranks, special = argmaxes(s, t), rank(len(s))
    pairs = [
        (j + 1, k + 1)
        for j, found in enumerate(ranks)
        for k, other in enumerate(ranks)
        if special in found and follows(k, j) and special not in other
    ]
    trial.exactly(not pairs, "j has the rank, k has not", pairs=pairs, ranks=ranks)


FIRST = stated(
    "Section 3.2, first property",
    draw=draw_many,
    check=_check_first,
    says={"follows": lambda k, j: k > j, "rank": lambda p: p + 1},
    wrong={
        "for all k < j": {"follows": lambda k, j: k < j},
        "the rank P": {"rank": lambda p: p},
        "the rank 1": {"rank": lambda p: 1},
    },
)


def _check_shared(
    trial: Trial, *, s: Vector, t: Vector, between: Callable[[int, int], Sequence[int]]
) -> None:
    ranks = argmaxes(s, t)
    ends = [
        (a + 1, b + 1)
        for a, b in combinations(range(len(t)), 2)
        for rank in set(ranks[a]) & set(ranks[b])
        if any(ranks[k] != [rank] for k in between(a, b) if k < len(t))
    ]
    trial.exactly(not ends, "another rank in between", ends=ends, ranks=ranks)


SHARED = stated(
    "Section 3.2, shared ranks",
    draw=draw_many,
    check=_check_shared,
    says={"between": lambda a, b: range(a + 1, b)},
    wrong={
        "and the one after b": {"between": lambda a, b: range(a + 1, b + 2)},
        "and the one before a": {"between": lambda a, b: range(max(0, a - 1), b)},
    },
)


def divide(s: Vector, t: Vector, span: Callable[[int, int, int], tuple[int, int]]) -> list[int]:
    """Ranks of all negatives, the middle one first, each half within the span that is left."""
    ranks = [0] * len(t)

    def conquer(first: int, last: int, low: int, high: int) -> None:
        if first <= last:
            middle = (first + last) // 2
            values = delta(middle + 1, s, t)[low - 1 : high]
            ranks[middle] = rank = low - 1 + maximisers(values)[-1]
            before, after = span(low, rank, high)
            conquer(first, middle - 1, low, before)
            conquer(middle + 1, last, after, high)

    conquer(0, len(t) - 1, 1, len(s) + 1)
    return ranks


def _check_divide(
    trial: Trial, *, s: Vector, t: Vector, span: Callable[[int, int, int], tuple[int, int]]
) -> None:
    found, right = divide(s, t, span), [ranks[-1] for ranks in argmaxes(s, t)]
    trial.exactly(found == right, "another rank", found=found, right=right)


DIVIDE = stated(
    "Section 3.2, divide and conquer",
    draw=draw_many,
    check=_check_divide,
    says={"span": lambda low, rank, high: (rank, rank)},
    wrong={
        "as the order is printed": {"span": lambda low, rank, high: (high, min(rank + 1, high))},
        "a rank is used once": {"span": lambda low, rank, high: (max(low, rank - 1), rank)},
    },
)

# ------------------------------------------------------------------------- the second property


def _draw_two(rng: Rng) -> Inputs:
    """Two rankings that differ by exchanges of neighbours of one class, or of two negatives."""
    given = draw_samples(rng, most=8)
    labels = given["labels"]
    order = [int(v) for v in rng.permutation(len(labels))]
    other = list(order)
    for _ in range(4):
        i, j = (int(v) for v in rng.integers(0, len(labels), 2))
        if labels[other[i]] == labels[other[j]] and (rng.random() < 0.4 or abs(i - j) == 1):
            other[i], other[j] = other[j], other[i]
    return {"labels": labels, "features": given["scores"], "orders": (order, other)}


#: (labels, levels) -> what the two rankings have to agree in
Key = Callable[[tuple[int, ...], list[int]], object]


def counts_of_positives(labels: Labels, levels: list[int]) -> object:
    """How many negatives stand above each positive, sample by sample."""
    return [above(labels, levels, i, 0) for i, label in enumerate(labels) if label]


def sorted_counts(labels: Labels, levels: list[int]) -> object:
    """The same, whichever positive it is."""
    return sorted(above(labels, levels, i, 0) for i, label in enumerate(labels) if label)


def counts_of_all(labels: Labels, levels: list[int]) -> object:
    """Negatives above each positive, positives below each negative, sample by sample."""
    return [
        above(labels, levels, i, 0) if label else below(labels, levels, i, 1)
        for i, label in enumerate(labels)
    ]


def total(labels: Labels, levels: list[int]) -> object:
    """Number of inversions."""
    return sum(above(labels, levels, i, 0) for i, label in enumerate(labels) if label)


def _check_second(
    trial: Trial,
    *,
    labels: Labels,
    features: Vector,
    orders: tuple[list[int], list[int]],
    for_feature: Key,
    for_precision: Key,
) -> None:
    first, second = (levels_of(order) for order in orders)
    maps = [joint_feature(labels, levels, features) for levels in (first, second)]
    same = for_feature(labels, first) == for_feature(labels, second)
    trial.exactly(
        not same or maps[0] == maps[1], "two rankings have different joint features", maps=maps
    )
    found = [average_precision([labels[i] for i in order]) for order in orders]
    same = for_precision(labels, first) == for_precision(labels, second)
    trial.exactly(
        not same or found[0] == found[1], "two rankings have different AP", precisions=found
    )


SECOND_PRINTED = stated(
    "Section 3.2, second property",
    draw=_draw_two,
    check=_check_second,
    says={"for_feature": counts_of_positives, "for_precision": counts_of_positives},
    right={"for_feature": counts_of_all},
    witnesses=(
        {"labels": (1, 0, 0), "features": vector(0, 1, 2), "orders": ([1, 0, 2], [2, 0, 1])},
    ),
)

SECOND_RIGHT = SECOND_PRINTED.corrected(
    says={"for_precision": sorted_counts},
    wrong={
        "as printed": {"for_feature": counts_of_positives},
        "joint feature by sorted numbers": {"for_feature": sorted_counts},
        "joint feature by the number of inversions": {"for_feature": total},
    },
)
