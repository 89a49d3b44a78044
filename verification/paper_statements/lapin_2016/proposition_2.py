"""Proposition 2: the one-vs-all logistic loss is calibrated."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Vector
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.risk import draw_probabilities, optimal

#: p -> exp of the Bayes optimal score
Odds = Callable[[Fraction], Fraction]


def _draw(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 6))
    return {
        "p": draw_probabilities(rng, m),
        "other": Fraction(int(rng.integers(1, 30)), int(rng.integers(1, 9))),
        "k": int(rng.integers(1, m)),
    }


def _slope(p: Fraction, w: Fraction) -> Fraction:
    """Derivative in f of p log(1 + e^-f) + (1-p) log(1 + e^f) at f = log w."""
    return (1 - p) * w / (1 + w) - p / (1 + w)


def _check(trial: Trial, *, p: Vector, other: Fraction, k: int, odds: Odds) -> None:
    best = [odds(v) for v in p]
    for p_y, w in zip(p, best, strict=True):
        trial.exactly(_slope(p_y, w) == 0, "the risk has a slope at the stated minimiser", w=w)
        slope = _slope(p_y, other)
        trial.exactly(
            (slope > 0) == (other > p_y / (1 - p_y)) and (slope < 0) == (other < p_y / (1 - p_y)),
            "the slope vanishes or has the wrong sign elsewhere: the minimiser is not unique",
            slope=slope,
        )
    trial.exactly(optimal(best, p, k), "the minimiser is not top-k Bayes optimal", w=best)


PROPOSITION_2 = stated(
    "Proposition 2",
    draw=_draw,
    check=_check,
    says={"odds": lambda p: p / (1 - p)},
    wrong={
        "log p": {"odds": lambda p: p},
        "log((1-p)/p)": {"odds": lambda p: (1 - p) / p},
        "log(2p/(1-p))": {"odds": lambda p: 2 * p / (1 - p)},
    },
)
