"""Joint features, average precision and the loss: equations (1) to (3), and section 1."""

from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate, product
from typing import Any

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import (
    ONE,
    ZERO,
    Labels,
    Ranking,
    Score,
    above,
    ap_loss,
    average_precision,
    below,
    draw_lists,
    draw_samples,
    interleavings,
    joint_feature,
    levels_by_score,
    levels_of,
    objective,
    precisions,
    score_change,
    slack,
    strict_rankings,
    truth,
    weak_rankings,
)
from verification.paper_statements._rational import (
    Function,
    Vector,
    draw_vector,
    draw_weights,
    vector,
)
from verification.paper_statements.mohapatra_2014 import stated

# ==========================================================================================
# Equation (1): the joint feature map, and the AP of a ranking, by counts of inversions.
# ==========================================================================================


def _draw_equation_1(rng: Rng) -> Inputs:
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
    draw=_draw_equation_1,
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
    draw=_draw_equation_1,
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


# ==========================================================================================
# Equation (2): prediction is sorting; and what the AP of a prediction with ties is.
# ==========================================================================================


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


def _check_equation_2(
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
    check=_check_equation_2,
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


# ==========================================================================================
# Problem (3): its slack as a loss, what that loss bounds, where it is 0, and its convexity.
# ==========================================================================================

Loss = Callable[[Vector, Vector], Fraction]


def lists(labels: Labels, scores: Vector) -> tuple[Vector, Vector]:
    """Scores of the positives and of the negatives, descending."""
    pairs = list(zip(labels, scores, strict=True))
    return (
        sorted((v for label, v in pairs if label), reverse=True),
        sorted((v for label, v in pairs if not label), reverse=True),
    )


def _check_slack(trial: Trial, *, labels: Labels, scores: Vector, loss: Function) -> None:
    at_truth = joint_feature(labels, truth(labels), scores)
    least = max(
        loss(average_precision([labels[i] for i in order]))
        - at_truth
        + joint_feature(labels, levels_of(order), scores)
        for order in strict_rankings(len(labels))
    )
    found = slack(*lists(labels, scores))
    trial.exactly(least == found, "the least slack is another", least=least, by_counts=found)


SLACK = stated(
    "Problem (3), slack",
    draw=draw_samples,
    check=_check_slack,
    says={"loss": lambda ap: 1 - ap},
    wrong={
        "no loss": {"loss": lambda ap: ZERO},
        "AP itself, as printed in section 3.2": {"loss": lambda ap: ap},
    },
)


def worst_loss(s: Vector, t: Vector) -> Fraction:
    """1 - AP of the scores, negatives first among equal ones."""
    return ap_loss([sum(v >= u for v in t) for u in s])


def at_prediction(s: Vector, t: Vector) -> Fraction:
    """The objective of (4) at a ranking predicted by (2), ties in favour of the positives."""
    return objective([sum(v > u for v in t) for u in s], s, t)


def _check_bound(trial: Trial, *, s: Vector, t: Vector, bound: Loss) -> None:
    p, n = len(s), len(t)
    value = bound(s, t)
    best = max(score_change(c, s, t) for c in interleavings(p, n))
    predicted = [ap_loss(c) for c in interleavings(p, n) if score_change(c, s, t) == best]
    trial.exactly(max(predicted) == worst_loss(s, t), "the worst order is not the worst prediction")
    trial.exactly(
        value >= max(predicted), "a ranking predicted by (2) has a larger loss", value=value
    )
    level = [ZERO] * p, [ZERO] * n
    trial.exactly(
        bound(*level) == worst_loss(*level), "not attained at equal scores", value=bound(*level)
    )


BOUND = stated(
    "Problem (3), bound",
    draw=lambda rng: draw_lists(rng, 3, 4),
    check=_check_bound,
    says={"bound": slack},
    wrong={
        "the objective at the prediction": {"bound": at_prediction},
        "half of it": {"bound": lambda s, t: slack(s, t) / 2},
        "twice the loss": {
            "bound": lambda s, t: max(
                score_change(c, s, t) + 2 * ap_loss(c) for c in interleavings(len(s), len(t))
            )
        },
    },
)

# ------------------------------------------------------------------------------ where it is zero


def _draw_margins(rng: Rng) -> Inputs:
    """Positives around the margins N/(2(k+1)) above the first negative."""
    p, n = int(rng.integers(1, 5)), int(rng.integers(1, 5))
    t = sorted((Fraction(int(v), 4) for v in rng.integers(-6, 1, n)), reverse=True)
    off = rng.integers(-1, 3, p) if rng.random() < 0.7 else rng.integers(-3, 2, p)
    s = [t[0] + Fraction(n, 2 * k + 2) + Fraction(int(v), 8) for k, v in enumerate(off, 1)]
    return {"s": sorted(s, reverse=True), "t": t}


#: Whether L(s) = 0 is claimed.
Condition = Callable[[Vector, Vector], bool]


def needed(k: int, s: Vector, t: Vector) -> Fraction:
    """Margin N/(2(k+1)) of positive k over the first negative."""
    return Fraction(len(t), 2 * (k + 1))


def sums_large(s: Vector, t: Vector) -> bool:
    """The lowest positives' margins over the first negative, summed from below."""
    spare = [s[k - 1] - t[0] - needed(k, s, t) for k in range(len(s), 0, -1)]
    return min(accumulate(spare)) >= 0


def _check_zero(trial: Trial, *, s: Vector, t: Vector, zero: Condition) -> None:
    value = slack(s, t)
    trial.exactly((value == 0) == zero(s, t), "L = 0 is told wrongly", value=value)


ZERO_LOSS = stated(
    "Problem (3), zero slack",
    draw=_draw_margins,
    check=_check_zero,
    says={"zero": sums_large},
    wrong={
        "each margin by itself": {
            "zero": lambda s, t: all(u - t[0] >= needed(k, s, t) for k, u in enumerate(s, 1))
        },
        "AP = 1": {"zero": lambda s, t: worst_loss(s, t) == 0},
        "the lowest positive alone": {"zero": lambda s, t: s[-1] - t[0] >= needed(len(s), s, t)},
        "N for N/2": {
            "zero": lambda s, t: sums_large([2 * v - t[0] for v in s], [v / 2 for v in t])
        },
        "no N": {"zero": lambda s, t: sums_large(s, t[:1])},
    },
)

# ------------------------------------------------------------------ as a function of the scores


def ramp(labels: Labels, scores: Vector) -> Fraction:
    """L minus the largest change of score (the structured ramp)."""
    s, t = lists(labels, scores)
    best = max(score_change(c, s, t) for c in interleavings(len(s), len(t)))
    return slack(s, t) - best


def hinge(labels: Labels, scores: Vector) -> Fraction:
    """L of scores in any order."""
    return slack(*lists(labels, scores))


def _draw_pair(rng: Rng) -> Inputs:
    given = draw_samples(rng, most=6)
    n = len(given["labels"])
    return {
        "labels": given["labels"],
        "points": [draw_vector(rng, n, 2, 2) for _ in range(2)],
        "weights": draw_weights(rng, 2),
        "shift": Fraction(int(rng.integers(-4, 5))),
    }


def _check_convex(
    trial: Trial,
    *,
    labels: Labels,
    points: list[Vector],
    weights: Vector,
    shift: Fraction,
    loss: Score,
    factor: Fraction,
) -> None:
    between = [weights[0] * a + weights[1] * b for a, b in zip(points[0], points[1], strict=True)]
    value = loss(labels, between)
    chord = sum((w * loss(labels, s) for w, s in zip(weights, points, strict=True)), ZERO)
    trial.exactly(value <= chord, "above the chord", value=value, chord=chord)
    moved = loss(labels, [factor * (v + shift) for v in between])
    trial.exactly(moved == value, "a shift changes the value", value=value, moved=moved)


CONVEX = stated(
    "Problem (3), convexity",
    draw=_draw_pair,
    check=_check_convex,
    says={"loss": hinge, "factor": ONE},
    wrong={
        "1 - AP itself": {"loss": lambda labels, scores: worst_loss(*lists(labels, scores))},
        "the structured ramp": {"loss": ramp},
        "invariant to scale": {"factor": Fraction(2)},
    },
)


def _check_ramp(trial: Trial, *, labels: Labels, scores: Vector, loss: Score, most: Loss) -> None:
    s, t = lists(labels, scores)
    value, least, bound = loss(labels, scores), worst_loss(s, t), most(s, t)
    trial.exactly(least <= value, "below the AP loss", value=value, ap_loss=least)
    trial.exactly(
        value <= min(slack(s, t), bound), "above L or its bound", value=value, hinge=slack(s, t)
    )


def largest_loss(s: Vector, t: Vector) -> Fraction:
    """AP loss with all negatives on top."""
    return ap_loss([len(t)] * len(s))


RAMP = stated(
    "Problem (3), structured ramp",
    draw=lambda rng: draw_samples(rng, most=7),
    check=_check_ramp,
    says={"loss": ramp, "most": largest_loss},
    wrong={
        "L itself": {"loss": hinge},
        "half of it": {"loss": lambda labels, scores: ramp(labels, scores) / 2},
        "at most nine tenths of it": {"most": lambda s, t: largest_loss(s, t) * Fraction(9, 10)},
    },
)


# ==========================================================================================
# Section 1: loss-augmented inference of the binary SVM, the baseline, costs O(P + N).
# ==========================================================================================


def _draw_section_1(rng: Rng) -> Inputs:
    return draw_samples(rng, most=7)


def _check_section_1(
    trial: Trial, *, labels: Labels, scores: Vector, scale: Fraction, term: Function
) -> None:
    """Labellings against one term of each sample; `scale` stands before the joint feature."""
    n = len(labels)
    signs = [1 if label else -1 for label in labels]

    def objective(other: tuple[int, ...]) -> Fraction:
        errors = Fraction(sum(a != b for a, b in zip(signs, other, strict=True)), n)
        change = sum((s * (b - a) for s, a, b in zip(scores, signs, other, strict=True)), ZERO)
        return errors + scale * change / n

    largest = max(objective(other) for other in product((1, -1), repeat=n))
    total = sum((term(y * s) for y, s in zip(signs, scores, strict=True)), ZERO) / n
    trial.exactly(largest == total, "the terms have another sum", largest=largest, terms=total)


BINARY = stated(
    "Section 1, inference of the binary SVM",
    draw=_draw_section_1,
    check=_check_section_1,
    says={"scale": Fraction(1, 2), "term": lambda margin: max(ZERO, 1 - margin)},
    wrong={
        "Psi = 1/n sum": {"scale": ONE},
        "0-1 loss": {"term": lambda margin: Fraction(int(margin <= 0))},
        "not cut off": {"term": lambda margin: 1 - margin},
    },
)
