"""Lemma 5: the multiplier that tells the knapsack solution from the cone solution."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._cone import draw_target, partition, project_simplex
from verification.paper_statements._rational import Vector, vector
from verification.paper_statements._topk import ONE, ZERO
from verification.paper_statements.lapin_2015 import stated
from verification.paper_statements.lapin_2015.lemma_3 import clipped

#: (t, p, k, rho, r) -> lambda
Multiplier = Callable[[Fraction, Fraction, int, Fraction, Fraction], Fraction]


def lemma(t: Fraction, p: Fraction, k: int, rho: Fraction, r: Fraction) -> Fraction:
    """T + p/k - rho r."""
    return t + p / k - rho * r


def product(t: Fraction, p: Fraction, k: int, rho: Fraction, r: Fraction) -> Fraction:
    """T + kp - rho r."""
    return t + k * p - rho * r


def excess(a: Vector, upper: tuple[int, ...], t: Fraction, u: Fraction) -> Fraction:
    """P = sum over U of a_i - (t + u)."""
    return sum((a[i] - t - u for i in upper), ZERO)


def _draw(rng: Rng) -> Inputs:
    return {**draw_target(rng, positive=True), "r": Fraction(int(rng.integers(1, 17)), 4)}


# ------------------------------------------------------------------------- the lemma as it stands


def _check_lemma(
    trial: Trial,
    *,
    a: Vector,
    k: int,
    rho: Fraction,
    r: Fraction,
    multiplier: Multiplier,
    at_bound_only: bool,
) -> None:
    """Lambda >= 0 at the solution, for some thresholds that describe it."""
    x = project_simplex(a, k, rho, r)
    s = sum(x, ZERO)
    if not any(x) or (at_bound_only and s < r):
        trial.nothing_claimed()
        return
    u, sets = s / k, partition(x, k)
    if sets.middle:
        i = sets.middle[0]
        choices = [a[i] - x[i]]
    else:
        # Any t between the largest entry of L and the smallest of U, lowered by u; lambda is
        # affine in t, so that the ends decide. Without L, t has no lower end: go far enough.
        high = min(a[i] for i in sets.upper) - u
        choices = [high, max((a[i] for i in sets.lower), default=high - 1000)]
    if any(clipped(a, t, u) != x for t in choices):
        raise ArithmeticError("the thresholds do not describe the projection")
    values = [multiplier(t, excess(a, sets.upper, t, u), k, rho, r) for t in choices]
    trial.exactly(
        max(values) >= 0, "lambda < 0 at the solution", x=x, s=s, t=choices[0], values=values
    )


LEMMA_5 = stated(
    "Lemma 5",
    draw=_draw,
    check=_check_lemma,
    says={"multiplier": lemma, "at_bound_only": False},
    right={"at_bound_only": True},
    witnesses=({"a": vector(1), "k": 1, "rho": ONE, "r": Fraction(10)},),
)

LEMMA_5_RIGHT = LEMMA_5.corrected(
    wrong={
        "without p": {"multiplier": lambda t, p, k, rho, r: t - rho * r},
        "without the condition": {"at_bound_only": False},
    }
)

# -------------------------------------------------------------- the rule that the section builds on it


def knapsack(a: Vector, k: int, r: Fraction) -> tuple[Vector, Fraction]:
    """(x, t) with x = min{max{0, a - t}, r/k} and <1,x> = r, for k <= d."""
    u = r / k
    knots = sorted({*a, *(v - u for v in a)})
    low = max(t for t in knots if sum(clipped(a, t, u), ZERO) >= r)
    high = min((t for t in knots if t > low), default=low)
    s_low, s_high = sum(clipped(a, low, u), ZERO), sum(clipped(a, high, u), ZERO)
    t = low if s_low == r else low + (s_low - r) / (s_low - s_high) * (high - low)
    return clipped(a, t, u), t


def _check_rule(
    trial: Trial, *, a: Vector, k: int, rho: Fraction, r: Fraction, multiplier: Multiplier
) -> None:
    x, t = knapsack(a, k, r)
    if sum(x, ZERO) != r or any(v > r / k for v in x):
        raise ArithmeticError("the knapsack solution is infeasible")
    p = excess(a, partition(x, k).upper, t, r / k)
    value = multiplier(t, p, k, rho, r)
    right = project_simplex(a, k, rho, r)
    trial.exactly(
        (value >= 0) == (x == right),
        "lambda >= 0 does not tell whether the knapsack solution is the projection",
        value=value,
        knapsack=x,
        projection=right,
    )


RULE = stated(
    "Projection, rule from Lemma 5",
    draw=_draw,
    check=_check_rule,
    says={"multiplier": lemma},
    wrong={
        "k p for p/k": {"multiplier": product},
        "without p": {"multiplier": lambda t, p, k, rho, r: t - rho * r},
        "without the bias": {"multiplier": lambda t, p, k, rho, r: t + p / k},
    },
)
