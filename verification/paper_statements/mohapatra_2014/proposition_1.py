"""Proposition 1: delta_j is unimodal, and more, concave, on its first min(P, j) + 1 ranks."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import pairwise
from operator import gt

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import delta, draw_lists
from verification.paper_statements._rational import Vector, draw_vector
from verification.paper_statements.mohapatra_2014 import stated
from verification.paper_statements.mohapatra_2014.equation_6 import bisect_left, unimodal


def draw_many(rng: Rng, p: int = 10, n: int = 10) -> Inputs:
    """Lists that need no enumeration; often equal positives where delta_j has several modes."""
    if rng.random() < 0.6:
        return draw_lists(rng, p, n)
    positives, negatives = int(rng.integers(2, p + 1)), int(rng.integers(1, n + 1))
    k, j = int(rng.integers(1, positives + 1)), int(rng.integers(1, negatives + 1))
    level = Fraction(negatives * k, 2 * (j + k) * (j + k - 1))
    s = [level - Fraction(int(v), 100) for v in sorted(rng.integers(0, 3, positives))]
    t = sorted((v / 50 for v in draw_vector(rng, negatives, 2, 1)), reverse=True)
    return {"s": s, "t": t}


def concave(values: Sequence[Fraction]) -> bool:
    """Steps in descending order."""
    steps = [b - a for a, b in pairwise(values)]
    return steps == sorted(steps, reverse=True)


def strictly_concave(values: Sequence[Fraction]) -> bool:
    """Steps in descending order, no two equal."""
    return all(gt(a, b) for a, b in pairwise([b - a for a, b in pairwise(values)]))


def _check(
    trial: Trial,
    *,
    s: Vector,
    t: Vector,
    domain: Callable[[int, int], int],
    shape: Callable[[Sequence[Fraction]], bool],
) -> None:
    for j in range(1, len(t) + 1):
        values = delta(j, s, t)[: domain(len(s), j)]
        trial.exactly(shape(values), "delta_j has another shape", j=j, values=values)


PRINTED = stated(
    "Proposition 1",
    draw=draw_many,
    check=_check,
    says={"domain": min, "shape": unimodal},
    wrong={
        "on {1..P}": {"domain": lambda p, j: p},
        "on {1..P+1}": {"domain": lambda p, j: p + 1},
        "non-decreasing": {"shape": lambda values: list(values) == sorted(values)},
        "a valley": {"shape": lambda values: unimodal([-v for v in values])},
    },
)

STRONGER = PRINTED.also(
    "Proposition 1, stronger",
    says={"domain": lambda p, j: min(p, j) + 1, "shape": concave},
    wrong={
        "one rank more": {"domain": lambda p, j: min(p, j) + 2},
        "on {1..P+1}": {"domain": lambda p, j: p + 1},
        "strictly concave": {"shape": strictly_concave},
        "convex": {"shape": lambda values: concave([-v for v in values])},
    },
)


def values_of(values: Sequence[Fraction]) -> Callable[[int], Fraction]:
    """The list as a function on 1, 2, ..."""
    return lambda i: values[i - 1]


def _check_bisection(
    trial: Trial, *, s: Vector, t: Vector, domain: Callable[[int, int], int]
) -> None:
    for j in range(1, len(t) + 1):
        values = delta(j, s, t)
        last = domain(len(s), j)
        place = bisect_left(values_of(values), last)
        trial.exactly(
            values[place - 1] == max(values[:last]),
            "not the maximum",
            j=j,
            place=place,
            values=values,
        )


BISECTION = stated(
    "Proposition 1, binary search",
    draw=draw_many,
    check=_check_bisection,
    says={"domain": lambda p, j: min(p, j) + 1},
    wrong={
        "on {1..P+1}": {"domain": lambda p, j: p + 1},
        "on {1..2 min(P, j)}": {"domain": lambda p, j: min(p + 1, 2 * min(p, j) + 1)},
    },
)
