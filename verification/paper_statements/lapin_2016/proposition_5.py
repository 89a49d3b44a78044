"""Proposition 5: the smooth one-vs-all hinge loss is calibrated."""

from collections.abc import Callable
from fractions import Fraction

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Function
from verification.paper_statements._topk import ONE, ZERO
from verification.paper_statements.lapin_2016 import stated

HALF = Fraction(1, 2)
#: (a, gamma) -> loss of the margin a
Loss = Callable[[Fraction, Fraction], Fraction]


def smooth_hinge(a: Fraction, gamma: Fraction) -> Fraction:
    """Equation (9) of the arXiv version."""
    if a < 1 - gamma:
        return 1 - a - gamma / 2
    return (a - 1) ** 2 / (2 * gamma) if a <= 1 else ZERO


def slope(a: Fraction, gamma: Fraction) -> Fraction:
    """Its derivative, as printed."""
    if a < 1 - gamma:
        return -ONE
    return (a - 1) / gamma if a <= 1 else ZERO


def _draw(rng: Rng) -> Inputs:
    return {
        "a": Fraction(int(rng.integers(-12, 13)), 4),
        "b": Fraction(-int(rng.integers(0, 9)), 8),
        "gamma": Fraction(int(rng.integers(1, 13)), 4),
    }


def _check_pair(
    trial: Trial,
    *,
    a: Fraction,
    b: Fraction,
    gamma: Fraction,
    loss: Loss,
    conjugate: Callable[[Fraction, Fraction], Fraction],
) -> None:
    value, at_b = loss(a, gamma), conjugate(b, gamma)
    trial.exactly(value + at_b >= a * b, "Fenchel-Young fails", loss=value, conjugate=at_b)
    best = slope(a, gamma)
    trial.exactly(
        value + conjugate(best, gamma) == a * best,
        "the derivative does not attain the maximum",
        derivative=best,
    )
    trial.exactly(
        loss(1 + gamma * b, gamma) + at_b == (1 + gamma * b) * b, "the conjugate is not attained"
    )


EQUATION_9 = stated(
    "Equation (9) of the arXiv version",
    draw=_draw,
    check=_check_pair,
    says={"loss": smooth_hinge, "conjugate": lambda b, gamma: b + gamma / 2 * b * b},
    wrong={
        "gamma b^2": {"conjugate": lambda b, gamma: b + gamma * b * b},
        "gamma/2 missing": {
            "loss": lambda a, gamma: smooth_hinge(a, gamma) + gamma / 2 * (a < 1 - gamma)
        },
    },
)


def _draw_plain(rng: Rng) -> Inputs:
    return {
        "a": Fraction(int(rng.integers(-12, 13)), 4),
        "b": Fraction(int(rng.integers(-12, 5)), 8),
    }


def _check_plain(
    trial: Trial,
    *,
    a: Fraction,
    b: Fraction,
    loss: Function,
    conjugate: Callable[[Fraction], Fraction | None],
) -> None:
    at_b = conjugate(b)
    if at_b is None:  # +infinity: b a - loss(a) grows along one of the two half-lines
        far = [b * t - loss(t) for t in (Fraction(-(10**6)), Fraction(10**6))]
        trial.exactly(max(far) > 10**4, "the supremum is finite", values=far)
        return
    trial.exactly(loss(a) + at_b >= a * b, "Fenchel-Young fails", loss=loss(a), conjugate=at_b)
    trial.exactly(loss(ONE) + at_b == b, "the supremum is not attained at the kink", at=at_b)


EQUATION_8 = stated(
    "Equation (8) of the arXiv version",
    draw=_draw_plain,
    check=_check_plain,
    says={"loss": lambda a: max(ZERO, 1 - a), "conjugate": lambda b: b if -1 <= b <= 0 else None},
    wrong={
        "-b": {"conjugate": lambda b: -b if -1 <= b <= 0 else None},
        "half line": {"conjugate": lambda b: b if b <= 0 else None},
        "domain [-1/2, 0]": {"conjugate": lambda b: b if -HALF <= b <= 0 else None},
        "kink at 2": {"loss": lambda a: max(ZERO, 2 - a)},
    },
)


def bayes(p: Fraction, gamma: Fraction) -> Fraction:
    """The printed minimiser of p L(f) + (1-p) L(-f); 0 < p < 1."""
    high, low = 1 - gamma * (1 - p) / p, -1 + gamma * p / (1 - p)
    if gamma <= 1:
        return high if p >= HALF else low
    if p >= gamma / 2:
        return high
    return 2 * p - 1 if p >= 1 - gamma / 2 else low


def risk_slope(p: Fraction, f: Fraction, gamma: Fraction) -> Fraction:
    """Derivative of the risk."""
    return p * slope(f, gamma) - (1 - p) * slope(-f, gamma)


def _draw_bayes(rng: Rng) -> Inputs:
    p, q = sorted(int(v) for v in rng.choice(np.arange(1, 24), size=2, replace=False))
    return {
        "p": Fraction(p, 24),
        "q": Fraction(q, 24),
        "gamma": Fraction(int(rng.integers(1, 13)), 4),
    }


def _check_bayes(
    trial: Trial,
    *,
    p: Fraction,
    q: Fraction,
    gamma: Fraction,
    bayes: Callable[[Fraction, Fraction], Fraction],
) -> None:
    f, g = bayes(p, gamma), bayes(q, gamma)
    trial.exactly(
        risk_slope(p, f, gamma) == risk_slope(q, g, gamma) == 0,
        "the risk has a slope at the stated minimiser",
        at_p=f,
        at_q=g,
    )
    # The slope is nondecreasing: a negative one for q at a minimiser for p, p < q, puts all
    # minimisers for q to the right of it, and the other way round. Both, if p is at an interval.
    trial.exactly(
        f < g and risk_slope(q, f, gamma) < 0 and risk_slope(p, g, gamma) > 0,
        "the minimisers do not increase strictly with p",
        at_p=f,
        at_q=g,
    )


PROPOSITION_5 = stated(
    "Proposition 5",
    draw=_draw_bayes,
    check=_check_bayes,
    says={"bayes": bayes},
    wrong={
        "first case for every gamma": {
            "bayes": lambda p, gamma: (
                1 - gamma * (1 - p) / p if p >= HALF else -1 + gamma * p / (1 - p)
            )
        },
        "2p - 1 for every gamma": {"bayes": lambda p, gamma: 2 * p - 1},
        "sign, the hinge's": {"bayes": lambda p, gamma: Fraction(1 if p >= HALF else -1)},
    },
)
