"""Section 4: the segments of the synthetic circle."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np

from verification.claims import Claim, Trial
from verification.claims._rational import Vector, vector
from verification.claims._topk import ONE, ZERO, top

#: The printed table: one row per class, one entry per segment.
TABLE = [vector(0, 1, ".4", ".3", 0), vector(1, 0, ".1", ".7", 0), vector(0, 0, ".5", 0, 1)]
LENGTHS = vector(1, 1, 1, 3, 1)


def _draw(rng: np.random.Generator) -> dict[str, Any]:
    return {"k": int(rng.integers(1, 3))}


def _check_reading(trial: Trial, *, k: int, of_classes: bool) -> None:
    sums = (
        [sum(row, ZERO) for row in TABLE]
        if of_classes
        else [sum(column, ZERO) for column in zip(*TABLE, strict=True)]
    )
    trial.exactly(all(v == 1 for v in sums), "these are no probabilities", sums=sums)


PRINTED = Claim(
    number="Section 4, class-conditional probabilities",
    section="4",
    statement="the printed numbers are the probabilities of the segments given the class",
    method="their sums, rational",
    expected="refuted",
    check=_check_reading,
    says={"of_classes": True},
    right={"of_classes": False},
    witnesses=({"k": 1},),
    note="They are the probabilities of the classes given the segment. How much mass a segment has "
    "is then not said.",
)


def bayes(masses: Vector, k: int) -> Fraction:
    """Best top-k accuracy."""
    columns = [list(column) for column in zip(*TABLE, strict=True)]
    total = sum(masses, ZERO)
    return sum((mass * top(p, k) for mass, p in zip(masses, columns, strict=True)), ZERO) / total


def _check_bayes(trial: Trial, *, k: int, masses: Vector, stated: dict[int, Fraction]) -> None:
    trial.exactly(bayes(masses, k) == stated[k], "another accuracy", accuracy=bayes(masses, k))


EQUAL = Claim(
    number="Section 4, Bayes accuracy, equal segments",
    section="4",
    statement="with equal mass on the five segments the best top-1 and top-2 accuracies are 84 % "
    "and 98 %",
    method="rational arithmetic",
    expected="repaired",
    draw=_draw,
    check=_check_bayes,
    says={"masses": [ONE] * 5, "stated": {1: Fraction(84, 100), 2: Fraction(98, 100)}},
    wrong={"mass by length": {"masses": LENGTHS}},
    witnesses=({"k": 1}, {"k": 2}),
    instances=1,
    note="What the paper prints for trained models, e.g. 65.7 and 96.1, stays below both; see "
    "`refsolve reproduce circle`.",
)

UNIFORM = Claim(
    number="Section 4, Bayes accuracy, uniform",
    section="4",
    statement="with mass proportional to length they are 80 % and 69/70 (98.57 %)",
    method="rational arithmetic",
    expected="repaired",
    draw=_draw,
    check=_check_bayes,
    says={"masses": LENGTHS, "stated": {1: Fraction(4, 5), 2: Fraction(69, 70)}},
    wrong={"equal mass": {"masses": [ONE] * 5}},
    witnesses=({"k": 1}, {"k": 2}),
    instances=1,
)
