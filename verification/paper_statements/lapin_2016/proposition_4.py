"""Proposition 4: the softmax loss is calibrated for all k, where its risk has a minimiser."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._logs import Log, log
from verification.paper_statements._rational import Vector, vector
from verification.paper_statements._topk import ZERO
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.risk import draw_probabilities, optimal


def risk(p: Vector, w: Vector) -> Log:
    """Expected softmax loss at the scores log w."""
    total = log(sum(w, ZERO))
    for p_y, w_y in zip(p, w, strict=True):
        total = total - (p_y * log(w_y) if p_y else Log())
    return total


def _draw(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 6))
    return {
        "p": draw_probabilities(rng, m),
        "other": [Fraction(int(v)) for v in rng.integers(1, 12, size=m)],
        "k": int(rng.integers(1, m)),
    }


def _check(
    trial: Trial, *, p: Vector, other: Vector, k: int, weights: Callable[[Vector], Vector]
) -> None:
    best = weights(p)
    same = all(v * p[0] == other[0] * p_y for v, p_y in zip(other, p, strict=True))
    least, elsewhere = risk(p, best), risk(p, other)
    trial.exactly(
        least <= elsewhere and (least == elsewhere) == same,
        "other scores are as good, or better",
        least=least,
        elsewhere=elsewhere,
    )
    trial.exactly(
        risk(p, [3 * v for v in best]) == least, "the minimiser is not free up to a constant"
    )
    trial.exactly(optimal(best, p, k), "the minimiser is not top-k Bayes optimal", w=best)


PROPOSITION_4 = stated(
    "Proposition 4",
    draw=_draw,
    check=_check,
    says={"weights": lambda p: p},
    wrong={
        "log(p/(1-p))": {"weights": lambda p: [v / (1 - v) for v in p]},
        "2 log p": {"weights": lambda p: [v * v for v in p]},
        "-log p": {"weights": lambda p: [1 / v for v in p]},
    },
)


def _draw_zero(rng: Rng) -> Inputs:
    given = _draw(rng)
    p, spread = given["p"], int(rng.integers(len(given["p"])))
    rest = 1 - p[spread]
    p = [ZERO if j == spread else v / rest for j, v in enumerate(p)]
    return {"p": p, "w": given["other"]}


def _check_attained(trial: Trial, *, p: Vector, w: Vector, attained: bool) -> None:
    """Halving the weight of a class of probability 0 lowers the risk."""
    lower = [v / 2 if p_y == 0 else v for p_y, v in zip(p, w, strict=True)]
    falls = risk(p, lower) < risk(p, w)
    trial.exactly(falls != attained, "the expected loss falls further", w=w)


ATTAINED = stated(
    "Proposition 4, minimisers in R^m",
    draw=_draw_zero,
    check=_check_attained,
    says={"attained": True},
    right={"attained": False},
    witnesses=({"p": vector(1, 0), "w": vector(1, 1)},),
)
