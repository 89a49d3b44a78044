"""Problem (3) and its dual over the simplex of rankings, solved exactly in one dimension."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import (
    ZERO,
    Labels,
    ap_loss,
    draw_samples,
    interleavings,
    score_change,
)
from verification.paper_statements._rational import Vector, draw_vector, draw_weights
from verification.paper_statements.mohapatra_2014 import stated
from verification.paper_statements.mohapatra_2014.equation_3 import hinge, lists

#: A ranking as a cut of one dimension: its loss, and the slope of its change of score in w.
Cut = tuple[Fraction, Fraction]
#: (loss, slope, C) of a mixture of rankings -> dual value
Dual = Callable[[Fraction, Fraction, Fraction], Fraction]


def cuts(labels: Labels, x: Vector) -> list[Cut]:
    """All rankings that keep positives and negatives in the order of x, or in the reverse one."""
    found = set()
    for sign in (1, -1):
        s, t = lists(labels, [sign * v for v in x])
        rankings = interleavings(len(s), len(t))
        found |= {(ap_loss(counts), sign * score_change(counts, s, t)) for counts in rankings}
    return sorted(found)


def primal(labels: Labels, x: Vector, w: Fraction, c: Fraction) -> Fraction:
    """w^2/2 + C L(xw)."""
    return w**2 / 2 + c * hinge(labels, [v * w for v in x])


def dual(loss: Fraction, slope: Fraction, c: Fraction) -> Fraction:
    """C sum lambda Delta - C^2/2 (sum lambda g)^2."""
    return c * loss - (c * slope) ** 2 / 2


def _mixture(a: Cut, b: Cut, theta: Fraction) -> Cut:
    return a[0] + theta * (b[0] - a[0]), a[1] + theta * (b[1] - a[1])


def best_mixture(found: list[Cut], c: Fraction) -> Cut:
    """The mixture of two cuts with the largest dual value; two are enough in one dimension."""
    best = max(found, key=lambda cut: dual(cut[0], cut[1], c))
    for a, b in combinations_with_replacement(found, 2):
        if a[1] != b[1]:  # stationary point of the concave quadratic in theta
            theta = ((b[0] - a[0]) / (c * (b[1] - a[1])) - a[1]) / (b[1] - a[1])
            mixed = _mixture(a, b, min(max(theta, ZERO), Fraction(1)))
            best = max(best, mixed, key=lambda cut: dual(cut[0], cut[1], c))
    return best


def _draw(rng: Rng) -> Inputs:
    given = draw_samples(rng, most=5)
    found = cuts(given["labels"], given["scores"])
    return {
        "labels": given["labels"],
        "x": given["scores"],
        "c": Fraction(int(rng.integers(1, 40)), 4),
        "w": draw_vector(rng, 1, 3, 4)[0],
        "weights": draw_weights(rng, len(found)),
    }


def _check(
    trial: Trial,
    *,
    labels: Labels,
    x: Vector,
    c: Fraction,
    w: Fraction,
    weights: Vector,
    value: Dual,
    sign: int,
) -> None:
    found = cuts(labels, x)
    mixed = np.array(weights) @ np.array(found)
    p, d = primal(labels, x, w, c), value(mixed[0], mixed[1], c)
    trial.exactly(d <= p, "a dual value is above a primal value", primal=p, dual=d)
    best = best_mixture(found, c)
    p, d = primal(labels, x, sign * c * best[1], c), value(best[0], best[1], c)
    trial.exactly(d == p, "the largest dual value is not the least primal value", primal=p, dual=d)


DUAL = stated(
    "Problem (3), dual",
    draw=_draw,
    check=_check,
    says={"value": dual, "sign": -1},
    wrong={
        "C for C^2": {"value": lambda loss, slope, c: c * loss - c * slope**2 / 2},
        "no half": {"value": lambda loss, slope, c: c * loss - (c * slope) ** 2},
        "w with the other sign": {"sign": 1},
        "loss without C": {"value": lambda loss, slope, c: loss - (c * slope) ** 2 / 2},
    },
)
