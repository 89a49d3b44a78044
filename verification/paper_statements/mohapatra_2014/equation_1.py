"""Equation (1): the joint feature map, and the AP of a ranking, by counts of inversions."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import (
    ONE,
    ZERO,
    Labels,
    Ranking,
    above,
    average_precision,
    below,
    draw_samples,
    joint_feature,
    levels_of,
    truth,
)
from verification.paper_statements._rational import Vector
from verification.paper_statements.mohapatra_2014 import stated


def _draw(rng: Rng) -> Inputs:
    given = draw_samples(rng, most=8)
    order = tuple(int(v) for v in rng.permutation(len(given["labels"])))
    return {"labels": given["labels"], "features": given["scores"], "order": order}


#: (inversions of a positive, inversions of a negative, P, N) -> their weights in Psi(R) - Psi(R*)
Weights = Callable[[int, int, int, int], tuple[Fraction, Fraction]]


def by_inversions(c: int, t: int, p: int, n: int) -> tuple[Fraction, Fraction]:
    """-2c/(PN) for a positive, 2t/(PN) for a negative."""
    return Fraction(-2 * c, p * n), Fraction(2 * t, p * n)


def _check_map(
    trial: Trial,
    *,
    labels: Labels,
    features: Vector,
    order: Ranking,
    weights: Weights,
    total: Fraction,
) -> None:
    levels = levels_of(order)
    p, n = sum(labels), len(labels) - sum(labels)
    change = joint_feature(labels, levels, features) - joint_feature(
        labels, truth(labels), features
    )
    found = []
    for i, label in enumerate(labels):
        c, t = above(labels, levels, i, 0), below(labels, levels, i, 1)
        found.append(weights(c, t, p, n)[0 if label else 1])
    by_counts = sum((w * x for w, x in zip(found, features, strict=True)), ZERO)
    trial.exactly(change == by_counts, "the counts give another map", change=change, found=found)
    trial.exactly(sum(found, ZERO) == total, "the weights have another sum", found=found)


MAP = stated(
    "Equation (1)",
    draw=_draw,
    check=_check_map,
    says={"weights": by_inversions, "total": ZERO},
    wrong={
        "one for each pair": {
            "weights": lambda c, t, p, n: (Fraction(-c, p * n), Fraction(t, p * n))
        },
        "not scaled": {"weights": lambda c, t, p, n: (Fraction(-2 * c), Fraction(2 * t))},
        "positives only": {"weights": lambda c, t, p, n: (Fraction(-2 * c, p * n), ZERO)},
        "a bias": {"total": ONE},
    },
)


# ------------------------------------------------------------------------- average precision


def _check_counts(
    trial: Trial,
    *,
    labels: Labels,
    features: Vector,
    order: Ranking,
    precision: Callable[[list[int]], Fraction],
) -> None:
    levels = levels_of(order)
    counts = [above(labels, levels, i, 0) for i, label in enumerate(labels) if label]
    ap = average_precision([labels[i] for i in order])
    found = precision(counts)
    trial.exactly(ap == found, "the counts give another AP", ap=ap, by_counts=found)


def by_counts(counts: list[int]) -> Fraction:
    """(1/P) sum k/(k + c_k), the counts in ascending order."""
    return by_counts_in(sorted(counts))


AVERAGE_PRECISION = stated(
    "AP by counts",
    draw=_draw,
    check=_check_counts,
    says={"precision": by_counts},
    wrong={
        "descending": {"precision": lambda counts: by_counts_in(sorted(counts, reverse=True))},
        "as the samples come": {"precision": lambda counts: by_counts_in(counts)},
        "k-1 for k": {
            "precision": lambda counts: (
                sum((Fraction(k - 1, k + c) for k, c in enumerate(sorted(counts), 1)), ZERO)
                / len(counts)
            )
        },
    },
)


def by_counts_in(counts: list[int]) -> Fraction:
    """The same sum with the counts in the order they come in."""
    return sum((Fraction(k, k + c) for k, c in enumerate(counts, 1)), ZERO) / len(counts)
