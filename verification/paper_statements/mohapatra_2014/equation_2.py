"""Equation (2): prediction is sorting; and what the AP of a prediction with ties is."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from verification.paper_statements import Inputs, Trial
from verification.paper_statements._ranking import (
    ZERO,
    Labels,
    Ranking,
    Score,
    draw_samples,
    joint_feature,
    levels_by_score,
    precisions,
    weak_rankings,
)
from verification.paper_statements._rational import Vector, vector
from verification.paper_statements.mohapatra_2014 import stated


def _inverts(labels: Labels, levels: Ranking, scores: Vector) -> bool:
    """Whether some positive and negative of different scores are not ranked as they say."""
    p = [i for i, label in enumerate(labels) if label]
    n = [j for j, label in enumerate(labels) if not label]
    sign = {True: 1, False: -1}
    return any(
        scores[i] != scores[j]
        and sign[scores[i] > scores[j]] != (levels[j] > levels[i]) - (levels[j] < levels[i])
        for i in p
        for j in n
    )


def _check(
    trial: Trial, *, labels: Labels, scores: Vector, predict: Callable[[Labels, Vector], Ranking]
) -> None:
    values = [
        (joint_feature(labels, levels, scores), levels) for levels in weak_rankings(len(labels))
    ]
    most = max(value for value, _ in values)
    found = joint_feature(labels, predict(labels, scores), scores)
    trial.exactly(found == most, "another ranking has a larger score", found=found, most=most)
    wrong = [
        levels for value, levels in values if value == most and _inverts(labels, levels, scores)
    ]
    trial.exactly(not wrong, "a maximiser ranks a pair of different scores otherwise", levels=wrong)


PREDICTION = stated(
    "Equation (2)",
    draw=lambda rng: draw_samples(rng, most=4 + int(rng.random() < 0.2)),
    check=_check,
    says={"predict": lambda labels, scores: levels_by_score(scores)},
    wrong={
        "ascending": {"predict": lambda labels, scores: levels_by_score([-s for s in scores])},
        "R*": {"predict": lambda labels, scores: tuple(1 - label for label in labels)},
        "all tied": {"predict": lambda labels, scores: (0,) * len(labels)},
    },
)

# -------------------------------------------------------------------------- the AP of equal scores


def by_thresholds(labels: Labels, scores: Vector) -> Fraction:
    """Sum over the distinct scores of precision times gain in recall, as scikit-learn has it."""
    total, before = ZERO, 0
    for value in sorted(set(scores), reverse=True):
        taken = [label for label, s in zip(labels, scores, strict=True) if s >= value]
        total += Fraction(sum(taken), len(taken)) * Fraction(sum(taken) - before, sum(labels))
        before = sum(taken)
    return total


def expected(labels: Labels, scores: Vector) -> Fraction:
    """Mean AP over all orders of equal scores."""
    found = precisions(labels, levels_by_score(scores))
    return sum(found, ZERO) / len(found)


def pessimistic(labels: Labels, scores: Vector) -> Fraction:
    """AP with the negatives first among equal scores."""
    return min(precisions(labels, levels_by_score(scores)))


def _check_ties(trial: Trial, *, labels: Labels, scores: Vector, precision: Score) -> None:
    found = precisions(labels, levels_by_score(scores))
    value = precision(labels, scores)
    trial.exactly(
        min(found) <= value <= max(found),
        "no order of the equal scores has an AP that large (or small)",
        value=value,
        least=min(found),
        largest=max(found),
    )


def _draw_ties(rng: Any) -> Inputs:
    given = draw_samples(rng, most=5)
    return {**given, "scores": [Fraction(int(v)) for v in rng.integers(0, 3, len(given["labels"]))]}


TIES_PRINTED = stated(
    "AP of equal scores, by thresholds",
    draw=_draw_ties,
    check=_check_ties,
    says={"precision": by_thresholds},
    right={"precision": expected},
    witnesses=({"labels": (0, 1, 1), "scores": vector(2, 1, 1)},),
)


def _check_below(trial: Trial, *, labels: Labels, scores: Vector, lower: Score) -> None:
    least, value = lower(labels, scores), by_thresholds(labels, scores)
    trial.exactly(least <= value, "the AP by thresholds is smaller", least=least, value=value)


TIES_RIGHT = stated(
    "AP of equal scores, by thresholds, corrected",
    draw=_draw_ties,
    check=_check_below,
    says={"lower": pessimistic},
    wrong={
        "the best order": {
            "lower": lambda labels, scores: max(precisions(labels, levels_by_score(scores)))
        },
        "the mean order": {"lower": expected},
    },
)
