"""Lemma 1: the sum of the k largest entries as a minimum over a threshold."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, pairwise

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Vector, draw_vector
from verification.paper_statements.lapin_2015 import stated

Objective = Callable[[Vector, Fraction, int], Fraction]


def objective(h: Vector, t: Fraction, k: int) -> Fraction:
    """The printed objective kt + sum_j max(0, h_j - t)."""
    return k * t + sum((max(Fraction(0), v - t) for v in h), Fraction(0))


def _draw(rng: Rng) -> Inputs:
    m = int(rng.integers(1, 8))
    return {"h": draw_vector(rng, m), "k": int(rng.integers(1, m + 1))}


def _check(trial: Trial, *, h: Vector, k: int, objective: Objective) -> None:
    largest = max(sum(chosen, Fraction(0)) for chosen in combinations(h, k))
    knots = sorted(set(h))
    lowest = min(objective(h, t, k) for t in knots)
    trial.exactly(lowest == largest, "the minimum is not the sum of the k largest", minimum=lowest)
    # The objective is affine between knots and beyond them: one point of each piece settles it.
    between = [(low + high) / 2 for low, high in pairwise(knots)]
    probes = [knots[0] - 1, *between, knots[-1] + 1]
    trial.exactly(
        all(objective(h, t, k) >= lowest for t in probes), "a threshold off the knots is lower"
    )


LEMMA_1 = stated(
    "Lemma 1",
    draw=_draw,
    check=_check,
    says={"objective": objective},
    wrong={
        "k forgotten": {"objective": lambda h, t, k: objective(h, t, 1)},
        "one too many": {"objective": lambda h, t, k: objective(h, t, k + 1)},
        "no positive part": {"objective": lambda h, t, k: k * t + sum(v - t for v in h)},
    },
)
