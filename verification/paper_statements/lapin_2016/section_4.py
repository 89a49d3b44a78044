"""Section 4: the segments of the synthetic circle."""

from fractions import Fraction
from functools import cache

import numpy as np

from verification.benchmarks import circle, circle_best
from verification.paper_statements import Claim, Inputs, Rng, Trial
from verification.paper_statements._rational import Vector, vector
from verification.paper_statements._topk import ONE, ZERO, top
from verification.paper_statements.lapin_2016 import stated

#: The printed table: one row per class, one entry per segment.
TABLE = [vector(0, 1, ".4", ".3", 0), vector(1, 0, ".1", ".7", 0), vector(0, 0, ".5", 0, 1)]
LENGTHS = vector(1, 1, 1, 3, 1)


def _draw(rng: Rng) -> Inputs:
    return {"k": int(rng.integers(1, 3))}


def _check_reading(trial: Trial, *, k: int, of_classes: bool) -> None:
    sums = (
        [sum(row, ZERO) for row in TABLE]
        if of_classes
        else [sum(column, ZERO) for column in zip(*TABLE, strict=True)]
    )
    trial.exactly(all(v == 1 for v in sums), "these are no probabilities", sums=sums)


PRINTED = stated(
    "Section 4, class-conditional probabilities",
    check=_check_reading,
    says={"of_classes": True},
    right={"of_classes": False},
    witnesses=({"k": 1},),
)


def bayes(masses: Vector, k: int) -> Fraction:
    """Best top-k accuracy."""
    columns = [list(column) for column in zip(*TABLE, strict=True)]
    total = sum(masses, ZERO)
    return sum((mass * top(p, k) for mass, p in zip(masses, columns, strict=True)), ZERO) / total


def _check_bayes(trial: Trial, *, k: int, masses: Vector, stated: dict[int, Fraction]) -> None:
    trial.exactly(bayes(masses, k) == stated[k], "another accuracy", accuracy=bayes(masses, k))


EQUAL = stated(
    "Section 4, Bayes accuracy, equal segments",
    draw=_draw,
    check=_check_bayes,
    says={"masses": [ONE] * 5, "stated": {1: Fraction(84, 100), 2: Fraction(98, 100)}},
    wrong={"mass by length": {"masses": LENGTHS}},
    witnesses=({"k": 1}, {"k": 2}),
)

UNIFORM = EQUAL.also(
    "Section 4, Bayes accuracy, uniform",
    says={"masses": LENGTHS, "stated": {1: Fraction(4, 5), 2: Fraction(69, 70)}},
    wrong={"equal mass": {"masses": [ONE] * 5}},
    witnesses=({"k": 1}, {"k": 2}),
)

# ------------------------------------------------------------------------- linear, without a bias


def accuracy(w: np.ndarray, masses: Vector, k: int) -> float:
    """Top-k accuracy of x -> W x on the circle, w (3, 2), arc by arc."""
    edges = 2 * np.pi * np.cumsum([0, *map(int, LENGTHS)]) / float(sum(LENGTHS, ZERO))
    density = np.array(masses, float) / np.diff(edges) / float(sum(masses, ZERO))
    ties = [np.arctan2(-v[0], v[1]) for v in (w[0] - w[1], w[1] - w[2], w[2] - w[0])]
    turned = [(t + shift) % (2 * np.pi) for t in ties for shift in (0, np.pi)]
    cuts = np.unique([*edges, *turned])
    middle = (cuts[1:] + cuts[:-1]) / 2
    order = np.argsort(-(w @ np.array([np.cos(middle), np.sin(middle)])), axis=0)[:k]
    segment = np.searchsorted(edges, middle) - 1
    right = np.array(TABLE, float)[order, segment].sum(axis=0)
    return float((np.diff(cuts) * density[segment] * right).sum())


@cache
def _searched(reading: str) -> tuple[Fraction, Fraction]:
    return circle_best.linear(circle.READINGS[reading])


def _draw_linear(rng: Rng) -> Inputs:
    return {"k": int(rng.integers(1, 3)), "w": rng.normal(size=(3, 2))}


def _check_linear(
    trial: Trial, *, k: int, w: np.ndarray, reading: str, stated: dict[int, Fraction]
) -> None:
    found = _searched(reading)[k - 1]
    trial.exactly(found == stated[k], "the search over arcs finds another value", found=found)
    masses = [ONE] * 5 if reading == "segments" else LENGTHS
    excess = accuracy(w, masses, k) - float(stated[k])
    trial.within(max(0.0, excess), 1e-12, "a linear classifier is better than the best")


def _linear(reading: str, words: str, one: Fraction, two: Fraction) -> Claim:
    return stated(
        f"Section 4, best linear accuracy, {words}",
        draw=_draw_linear,
        check=_check_linear,
        says={"reading": reading, "stated": {1: one, 2: two}},
        wrong={
            "a point less": {"stated": {1: one - Fraction(1, 100), 2: two - Fraction(1, 100)}},
            "Bayes": {"stated": {1: bayes([ONE] * 5, 1), 2: bayes([ONE] * 5, 1)}},
        },
    )


LINEAR_EQUAL = _linear("segments", "equal segments", Fraction(71, 100), Fraction(49, 50))
LINEAR_UNIFORM = _linear("uniform", "uniform mass", Fraction(9, 14), Fraction(69, 70))
