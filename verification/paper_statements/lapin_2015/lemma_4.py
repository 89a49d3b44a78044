"""Lemma 4: when the biased projection on the top-k cone is 0."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._cone import draw_target, project_cone
from verification.paper_statements._rational import Vector
from verification.paper_statements._topk import top
from verification.paper_statements.lapin_2015 import stated

Condition = Callable[[Vector, int], bool]


def condition(a: Vector, k: int) -> bool:
    """S_k(a) <= 0."""
    return top(a, k) <= 0


def _check(
    trial: Trial,
    *,
    a: Vector,
    k: int,
    rho: Fraction,
    condition: Condition,
    necessary: Callable[[Fraction], bool],
) -> None:
    x = project_cone(a, k, rho)
    if condition(a, k):
        trial.exactly(not any(x), "the condition holds and x is not 0", x=x)
    else:
        trial.exactly(
            any(x) or not necessary(rho), "x = 0 although the condition does not hold", x=x
        )


def draw_near(rng: Rng) -> Inputs:
    """A point whose S_k(a) is often 0 or next to it: conditions differ there alone."""
    given = draw_target(rng)
    if rng.random() < 0.6:
        a, k = given["a"], given["k"]
        excess = Fraction(int(rng.integers(-2, 3)), int(rng.choice([100, 10_000])))
        given["a"] = [v - (top(a, k) - excess) / k for v in a]
    return given


WRONG = {
    "S_k <= 1/50": {"condition": lambda a, k: top(a, k) <= Fraction(1, 50)},
    "S_k <= -1/5000": {"condition": lambda a, k: top(a, k) <= -Fraction(1, 5000)},
    "sum of all entries": {"condition": lambda a, k: sum(a) <= 0},
    "largest entry": {"condition": lambda a, k: max(a) <= 0},
    "k-th entry": {"condition": lambda a, k: sorted(a)[-k] <= 0},
    "strict": {"condition": lambda a, k: top(a, k) < 0},
}

LEMMA_4 = stated(
    "Lemma 4",
    draw=draw_near,
    check=_check,
    says={"condition": condition, "necessary": lambda rho: rho == 0},
    wrong=WRONG,
)

LEMMA_4_SHARP = LEMMA_4.also(
    "Lemma 4, sharpened",
    says={"necessary": lambda rho: True},
    wrong=WRONG,
    witnesses=({"a": [Fraction(1), Fraction(-9, 10)], "k": 2, "rho": Fraction(10)},),
)
