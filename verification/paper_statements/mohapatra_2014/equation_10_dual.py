"""Problem (10) with >= and a free bias: its dual, solved exactly in one dimension."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import ONE, ZERO, Labels, draw_samples
from verification.paper_statements._rational import Vector, draw_weights
from verification.paper_statements.mohapatra_2014 import stated
from verification.paper_statements.mohapatra_2014.equation_3_dual import (
    Cut,
    best_mixture,
    cuts,
    primal,
)

#: (loss, slope of the mixture of rankings, sum mu_i y_i x_i, sum mu_i, C) -> dual value
Dual = Callable[[Fraction, Fraction, Fraction, Fraction, Fraction], Fraction]


def dual_value(
    loss: Fraction, slope: Fraction, easy: Fraction, total: Fraction, c: Fraction
) -> Fraction:
    """C sum lambda Delta + sum mu - 1/2 (sum mu_i y_i x_i - C sum lambda g)^2."""
    return c * loss + total - (easy - c * slope) ** 2 / 2


def _draw(rng: Rng) -> Inputs:
    given = draw_samples(rng, most=4)
    easy = draw_samples(rng, most=5)
    # Separable in one direction: the positives on one side of the negatives, 0 not in between.
    at, sign = Fraction(int(rng.integers(-4, 5))), int(rng.choice([-1, 1]))
    y = [1 if label else -1 for label in easy["labels"]]
    x = [at + sign * v * (Fraction(1, 4) + abs(s)) for v, s in zip(y, easy["scores"], strict=True)]
    found = cuts(given["labels"], given["scores"])
    return {
        "labels": given["labels"],
        "x": given["scores"],
        "easy": list(zip(y, x, strict=True)),
        "c": Fraction(int(rng.integers(1, 40)), 4),
        "weights": draw_weights(rng, len(found)),
        "masses": [Fraction(int(v), 2) for v in rng.integers(0, 5, 3)],
        "beyond": Fraction(int(rng.integers(0, 9)), 4),
    }


def closest(easy: list[tuple[int, Fraction]]) -> Fraction:
    """Signed difference of a closest positive and negative of the easy samples."""
    gaps = [a - b for (y, a), (z, b) in product(easy, easy) if y > z]
    return min(gaps, key=abs)


def _check(
    trial: Trial,
    *,
    labels: Labels,
    x: Vector,
    easy: list[tuple[int, Fraction]],
    c: Fraction,
    weights: Vector,
    masses: Vector,
    beyond: Fraction,
    value: Dual,
    balanced: bool,
) -> None:
    found = cuts(labels, x)
    gap = closest(easy)
    least = 2 / gap  # w'(x_+ - x_-) >= 2 of the closest pair; some bias then serves all
    # Any feasible pair: w beyond its bound, mu on pairs, or anywhere if it need not be balanced.
    w = least * (1 + beyond)
    mixed = np.array(weights) @ np.array(found)
    positives = [v for y, v in easy if y > 0]
    negatives = [v for y, v in easy if y < 0]
    pairs = list(zip(masses, positives, negatives, strict=False))
    moved = sum((m * (a - b) for m, a, b in pairs), ZERO)
    total = 2 * sum((m for m, *_ in pairs), ZERO)
    if not balanced:
        # One sample alone: as far as it goes against w if the bias is what makes it feasible.
        y, v = min(easy, key=lambda sample: sample[0] * sample[1] * gap)
        against = max(ZERO, -y * v / gap)
        mass = Fraction(10**6) if y * v * gap <= 0 else 1 / v**2
        moved, total = mass * (y * v + against * gap), mass * (1 + 2 * against)
    p, d = primal(labels, x, w, c), value(mixed[0], mixed[1], moved, total, c)
    trial.exactly(d <= p, "a dual value is above a primal value", primal=p, dual=d)
    p, d = _solution(labels, x, found, gap, c, value)
    trial.exactly(d == p, "the largest dual value is not the least primal value", primal=p, dual=d)


def _solution(
    labels: Labels, x: Vector, found: list[Cut], gap: Fraction, c: Fraction, value: Dual
) -> tuple[Fraction, Fraction]:
    """Primal and dual value at the exact dual solution: mu = 0, or mu on the closest pair."""
    free = best_mixture(found, c)
    w = -c * free[1]
    if w * gap >= 2:
        return primal(labels, x, w, c), value(free[0], free[1], ZERO, ZERO, c)
    # The constraint holds with equality. D is then linear in lambda: one cut is enough, of those
    # that are active at w the one with the largest mu.
    w = 2 / gap
    best = max(found, key=lambda cut: (cut[0] + w * cut[1], cut[1] * gap))
    mass = (w + c * best[1]) / gap
    if mass < 0:
        raise ArithmeticError("no multiplier of the easy constraints is feasible")
    return primal(labels, x, w, c), value(best[0], best[1], mass * gap, 2 * mass, c)


DUAL = stated(
    "Problem (10), dual, corrected",
    draw=_draw,
    check=_check,
    says={"value": dual_value, "balanced": True},
    wrong={
        "mu not balanced": {"balanced": False},
        "loss without C": {
            "value": lambda loss, slope, easy, total, c: dual_value(
                loss, c * slope, easy, total, ONE
            )
        },
        "the other sign of mu": {
            "value": lambda loss, slope, easy, total, c: dual_value(loss, slope, -easy, total, c)
        },
    },
)
