"""Algorithm 3, selective ranking: which negatives it searches, and what finding them costs."""

from collections.abc import Callable
from fractions import Fraction
from math import ceil, log2
from operator import ge, gt, lt

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import draw_lists, first, pairs_turned, slack
from verification.paper_statements._rational import Vector, vector
from verification.paper_statements.mohapatra_2014 import stated
from verification.paper_statements.mohapatra_2014.algorithm_2 import Column, corrected
from verification.paper_statements.mohapatra_2014.proposition_1 import draw_many


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
    witnesses=({"s": vector(0), "t": vector(1, -100)},),
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
    witnesses=({"n": 1024, "active": 300, "seed": 0},),
)

COST_RIGHT = COST_PRINTED.corrected(
    says={"cost": lambda n: 14 * n},
    wrong={"from all N": {"search": over_all}, "a sixth of it": {"cost": lambda n: 14 * n // 6}},
)
