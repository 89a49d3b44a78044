"""Section 4, what the projections cost: operations on numbers, counted while they are made."""

from collections.abc import Callable
from fractions import Fraction
from math import log2

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._cone import is_projection
from verification.paper_statements._counted import counted
from verification.paper_statements._rational import Vector
from verification.paper_statements._topk import ZERO
from verification.paper_statements.lapin_2015 import stated
from verification.paper_statements.lapin_2015.search import (
    Walk,
    every_partition,
    point_with,
    search,
    staircase,
)


def _draw_hard(rng: Rng) -> Inputs:
    """A point whose projection has the given |U| and |M|, at random places."""
    d = int(rng.integers(6, 33))
    k = int(rng.integers(1, d))
    rho = Fraction(int(rng.integers(3)), 2)
    upper = int(rng.integers(k)) if rng.random() < 0.5 else k - 1
    middle = int(rng.integers(k + 1 - upper, d - upper + 1))
    a = point_with(d, k, rho, upper, middle)
    return {"a": [a[i] for i in rng.permutation(d)], "k": k, "rho": rho}


def _check(
    trial: Trial, *, a: Vector, k: int, rho: Fraction, walk: Walk, bound: Callable[[int, int], float]
) -> None:  # fmt: skip
    x, operations = counted(search, a, k, rho, walk)
    if not is_projection(x, a, k, rho):
        raise ArithmeticError("what is counted is not the projection")
    d = len(a)
    trial.exactly(
        operations <= bound(d, k), "more operations", operations=operations, stated=bound(d, k)
    )


#: Operations per unit of each bound.
EACH = 10


def sorting(d: int, k: int) -> float:
    """O(d log d)."""
    return EACH * d * log2(d)


def searching(d: int, k: int) -> float:
    """O(d log d + kd)."""
    return sorting(d, k) + EACH * k * d


SEARCH = stated(
    "Projection, operations of the search",
    draw=_draw_hard,
    check=_check,
    says={"walk": every_partition, "bound": searching},
    wrong={
        "without kd": {"bound": sorting},
        "2 of each": {"bound": lambda d, k: searching(d, k) / 5},
    },
)

ABSTRACT = stated(
    "Projection, operations as the introduction has them",
    draw=_draw_hard,
    check=_check,
    says={"walk": every_partition, "bound": sorting},
    right={"bound": searching},
    witnesses=({"a": point_with(64, 32, ZERO, 31, 33), "k": 32, "rho": ZERO},),
)

STAIRCASE = ABSTRACT.corrected(
    "Projection, operations of a walk",
    says={"walk": staircase, "bound": sorting},
    wrong={
        "the search as printed": {"walk": every_partition},
        "2 of each": {"bound": lambda d, k: sorting(d, k) / 5},
    },
)


# ----------------------------------------------------------------------- the knapsack, s = r


def fix_variables(a: Vector, k: int, r: Fraction) -> Vector:
    """Argmin ||x - a||^2 over 0 <= x <= r/k, <1,x> = r: fix what lies beyond a bound, and again."""
    cap, left, free, x = r / k, r, list(range(len(a))), dict[int, Fraction]()
    while free:
        shift = (sum((a[i] for i in free), ZERO) - left) / len(free)
        values = {i: a[i] - shift for i in free}
        high, low = (
            [i for i in free if t(values[i])] for t in (lambda v: v >= cap, lambda v: v <= ZERO)
        )
        excess = sum((values[i] - cap for i in high), ZERO) + sum((values[i] for i in low), ZERO)
        fixed, value = (high, cap) if high and excess >= ZERO else (low, ZERO)
        x |= dict.fromkeys(fixed, value) if fixed else values
        left = left - len(fixed) * value
        free = [i for i in free if i not in x]
    return [x[i] for i in range(len(a))]


def _draw_knapsack(rng: Rng) -> Inputs:
    d = int(rng.choice([50, 100, 200, 400]))
    scale = int(rng.choice([10, 1000, 100_000]))
    a = [Fraction(round(v * scale), 1000) for v in rng.standard_normal(d).tolist()]
    return {"a": a, "k": int(rng.integers(1, d // 2)), "r": Fraction(int(rng.integers(1, 50)), 10)}


def _check_knapsack(
    trial: Trial, *, a: Vector, k: int, r: Fraction, bound: Callable[[int], float]
) -> None:
    x, operations = counted(fix_variables, a, k, r)
    cap = r / k
    least = max((v - w for v, w in zip(a, x, strict=True) if w < cap), default=ZERO)
    most = min((v - w for v, w in zip(a, x, strict=True) if w > 0), default=least)
    if sum(x, ZERO) != r or not all(0 <= v <= cap for v in x) or least > most:
        raise ArithmeticError("what is counted is not the projection")
    trial.exactly(
        operations <= bound(len(a)), "more operations", operations=operations, stated=bound(len(a))
    )


KNAPSACK = stated(
    "Knapsack problem, operations of variable fixing",
    draw=_draw_knapsack,
    check=_check_knapsack,
    says={"bound": lambda d: 25 * d},
    wrong={"4 d": {"bound": lambda d: 4 * d}, "as many as roots": {"bound": lambda d: 90 * d**0.5}},
)
