"""Fool the top-k hinge.

A loss is top-k calibrated if minimising it makes the fewest top-k errors. The top-k hinge
L(y, f) = max{0, S_k(z)/k}, z_j = f_j - f_y + 1 over j != y, is not: for some class
probabilities p its best scores are all equal, which say nothing.

Write `fooled(m, k)`: class probabilities p_1 > p_2 > ... > p_m > 0 (m numbers, sum 1) at
which f = 0, and nothing else but constant scores, minimises the risk sum_y p_y L(y, f). You
are asked for k = 1, ..., m - 2; at m = k + 1 there is no such p.

Hints
-----
At f = 0 every z is 1 and the risk is 1. Raise one score, f_j = t: what happens to the risk?

Class j gains p_j t, the others lose (1 - p_j) t/k. So p_j < (1 - p_j)/k is needed for every
j. It is also enough: write down a flow from each class y to the others, at most p_y/k on an
arc, that returns p_j to every j.

All p_j < 1/(k + 1), strictly falling, with sum 1. Since m > k + 1, the uniform distribution
has room: p_j = 1/m + e (m + 1 - 2 j), e small enough.
"""

from collections.abc import Iterator
from fractions import Fraction
from itertools import pairwise
from typing import Any

import numpy as np

from verification.exercises import wrong
from verification.verdicts.verdict import Judgement, Verdict

LECTURE = 9


def fooled(m: int, k: int) -> np.ndarray:
    """Near the uniform distribution; the largest is 1/m + half of the room to 1/(k + 1)."""
    slope = np.linspace(1.0, -1.0, m)
    return 1 / m + slope * min(1 / (k + 1) - 1 / m, 1 / m) / 2


def instances(seed: int = 0) -> Iterator[dict[str, Any]]:
    """All m up to 12, then some larger ones."""
    for m in range(3, 13):
        for k in range(1, m - 1):
            yield {"m": m, "k": k}
    rng = np.random.default_rng(10 + seed)
    for m in rng.integers(13, 60, 10).tolist():
        yield {"m": m, "k": int(rng.integers(1, m - 1))}


def judge(answer: np.ndarray, m: int, k: int) -> Judgement:
    """Exact: 0 is the minimiser iff every p_j <= 1/(k + 1), which Gale's theorem on flows says of each set of classes.

    A larger p_j is refuted by a score: at f = e_j the risk is (1 - p_j)(1 + 1/k) < 1.
    """
    if answer.shape != (m,) or not np.isfinite(answer).all():
        return Judgement(Verdict.FAIL, message=f"expected {m} numbers, got shape {answer.shape}")
    p = [Fraction(float(v)) for v in answer]
    off = float(min(abs(sum(p, Fraction(0)) - 1), Fraction(2)))  # huge ones are no float
    if min(p) <= 0 or off > 4 * m * np.finfo(float).eps:
        return Judgement(
            Verdict.FAIL, message=f"no distribution: least {float(min(p)):g}, sum off by {off:.2g}"
        )
    if any(a <= b for a, b in pairwise(p)):
        return Judgement(Verdict.FAIL, message="p is not strictly falling")
    if p[0] >= Fraction(1, k + 1):
        risk = float((1 - p[0]) * (1 + Fraction(1, k)))
        message = f"f = (1, 0, ..., 0) has the risk {risk:.6g}, f = 0 has 1: the loss is not fooled"
        return Judgement(Verdict.FAIL, message=message)
    margin = float(Fraction(1, k + 1) - p[0])
    return Judgement(Verdict.PASS, terms={"1/(k+1) - max p": (margin, None)})


@wrong
def geometric(m: int, k: int) -> np.ndarray:
    """One class stands out: the loss ranks it first, and rightly."""
    p = 0.5 ** np.arange(m)
    return p / p.sum()


@wrong
def uniform(m: int, k: int) -> np.ndarray:
    """All equal: then no ranking is wrong, and nobody is fooled."""
    return np.full(m, 1 / m)


@wrong
def below_one_kth(m: int, k: int) -> np.ndarray:
    """p_1 below 1/k instead of 1/(k + 1): the mass that returns to y itself is counted."""
    first = 0.99 / k if k > 1 else 0.9
    rest = np.linspace(1.1, 0.9, m - 1)
    return np.append(first, (1 - first) * rest / rest.sum())
