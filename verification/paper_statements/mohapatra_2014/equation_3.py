"""Problem (3): its slack as a loss, what that loss bounds, where it is 0, and its convexity."""

from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import (
    ONE,
    ZERO,
    Labels,
    Score,
    ap_loss,
    average_precision,
    draw_lists,
    draw_samples,
    interleavings,
    joint_feature,
    levels_of,
    objective,
    score_change,
    slack,
    strict_rankings,
    truth,
)
from verification.paper_statements._rational import Function, Vector, draw_vector, draw_weights
from verification.paper_statements.mohapatra_2014 import stated

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
