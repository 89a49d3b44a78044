"""The search for the partition, and how many operations it takes."""

from collections.abc import Callable
from fractions import Fraction
from itertools import accumulate
from math import log2
from typing import Any

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._cone import draw_target, is_projection, partition, project_cone
from verification.paper_statements._counted import counted
from verification.paper_statements._rational import Vector
from verification.paper_statements._topk import ONE, ZERO
from verification.paper_statements.lapin_2015 import stated
from verification.paper_statements.lapin_2015.projections import clipped, solve_system

# ==========================================================================================
# Section 4.2, the search over partitions: how many there are, and what the fall-back to 0 does.
# ==========================================================================================

# ------------------------------------------------------------------------- number of partitions


def _draw_sizes(rng: Rng) -> Inputs:
    d = int(rng.integers(1, 8))
    return {"d": d, "k": int(rng.integers(1, d + 1)), "rho": Fraction(int(rng.integers(3)), 2)}


def point_with(d: int, k: int, rho: Fraction, upper: int, middle: int) -> Vector:
    """A point whose projection x has the given |U| and |M|, from the optimality conditions.

    x has sum 1: 1/k on U, equal shares of the rest on M. Multipliers 1 of the caps on U give
    a = x + 1 on U and x on M, up to the common shift rho - |U|/k; entries of L lie below.
    """
    shift = rho - Fraction(upper, k)
    share = (1 - Fraction(upper, k)) / middle
    entries = [Fraction(1, k) + 1] * upper + [share] * middle + [-ONE] * (d - upper - middle)
    return [v + shift for v in entries]


def _check_count(
    trial: Trial, *, d: int, k: int, rho: Fraction, bound: Callable[[int, int], int], tight: bool
) -> None:
    found = set()
    for upper in range(k):
        for middle in range(k + 1 - upper, d - upper + 1):
            a = point_with(d, k, rho, upper, middle)
            sets = partition(project_cone(a, k, rho), k)
            found.add((len(sets.upper), len(sets.middle)))
    trial.exactly(
        len(found) == bound(d, k) if tight else len(found) <= bound(d, k),
        "another number of partitions (|U|, |M|) occurs",
        occurring=found,
        stated=bound(d, k),
    )


COUNT_PRINTED = stated(
    "Projection, number of partitions",
    draw=_draw_sizes,
    check=_check_count,
    says={"bound": lambda d, k: (k - 1) * (d - k + 1), "tight": False},
    right={"bound": lambda d, k: k * (d - k)},
)

COUNT_RIGHT = COUNT_PRINTED.corrected(
    says={"tight": True},
    wrong={
        "as printed": {"bound": lambda d, k: (k - 1) * (d - k + 1)},
        "also |U| + |M| = k": {"bound": lambda d, k: k * (d - k + 1)},
    },
)

# ----------------------------------------------------------------------------------- the search


#: (|U|, |U| + |M|) -> (t, u), the solution of (6)
Solve = Callable[[int, int], tuple[Any, Any]]
#: (solve, sorted a, k) -> the (t, u) that fit, None if none do
Walk = Callable[[Solve, Vector, int], tuple[Any, Any] | None]


def every_partition(solve: Solve, a: Vector, k: int) -> tuple[Any, Any] | None:
    """The printed search: of a sorted point (7) is about four entries."""
    d = len(a)
    for upper in range(k):
        for end in range(k + 1, d + 1):
            t, u = solve(upper, end)
            fits = u > 0 and (end == d or a[end] <= t) and t <= a[end - 1] and a[upper] <= t + u
            if fits and (upper == 0 or t + u <= a[upper - 1]):
                return t, u
    return None


def staircase(solve: Solve, a: Vector, k: int) -> tuple[Any, Any]:
    """Ours, for S_k(a) > 0: from |U| = k-1, |U| + |M| = k+1 on, whatever leaves L or U does so for good."""
    upper, end = k - 1, k + 1
    while True:
        t, u = solve(upper, end)
        if end < len(a) and a[end] > t:
            end += 1
        elif upper > 0 and a[upper - 1] < t + u:
            upper -= 1
        else:
            return t, u


def search(a: Vector, k: int, rho: Fraction, walk: Walk = every_partition) -> Vector | None:
    """Case 2, then the partitions of case 3 in the sorted order; None if no partition fits.

    Runs on Fractions, on floats and on numbers that count, comparing as printed, without tolerances.
    """
    d = len(a)
    order = sorted(range(d), key=a.__getitem__, reverse=True)
    ranked = [a[i] for i in order]
    sums = [ZERO, *accumulate(ranked)]  # a constant number of operations each
    constant = sums[k] / (k + rho * k**2)
    if constant > 0 and (k == d or ranked[k] <= ranked[k - 1] - constant):
        return [constant if i in order[:k] else ZERO for i in range(d)]

    def solve(upper: int, end: int) -> tuple[Any, Any]:
        return solve_system((upper, end - upper), (sums[upper], sums[end] - sums[upper]), k, rho)

    found = walk(solve, ranked, k)
    return None if found is None else clipped(a, *found)


def _objective(x: Vector, a: Vector, rho: Fraction) -> Fraction:
    s = sum(x, ZERO)
    return sum(((v - w) ** 2 for v, w in zip(x, a, strict=True)), ZERO) + rho * s**2


def _draw_decimal(rng: Rng) -> Inputs:
    d = int(rng.integers(3, 8))
    return {
        "a": [Fraction(int(v), 10) for v in rng.integers(-25, 26, size=d)],
        "k": int(rng.integers(2, d + 1)),
        "rho": Fraction(int(rng.integers(2))),
    }


def _check_float(
    trial: Trial, *, a: Vector, k: int, rho: Fraction, arithmetic: Callable[[Fraction], Any]
) -> None:
    """Whether the search, in the given arithmetic and with fall-back 0, finds the projection."""
    found = search([arithmetic(v) for v in a], k, arithmetic(rho))
    x = [ZERO] * len(a) if found is None else [Fraction(v) for v in found]
    right = project_cone(a, k, rho)
    excess = _objective(x, a, rho) - _objective(right, a, rho)
    # Rounding of the inputs alone would move the objective by 1e-16; a thousandth is another x.
    trial.exactly(
        abs(excess) <= Fraction(1, 1000),
        "the search ends with no fitting partition, and 0 is not the projection",
        returned=x,
        projection=right,
    )


FALLBACK = stated(
    "Projection, fall-back to 0",
    draw=_draw_decimal,
    check=_check_float,
    says={"arithmetic": float},
    right={"arithmetic": Fraction},
)


def _check_exact(
    trial: Trial,
    *,
    a: Vector,
    k: int,
    rho: Fraction,
    search: Callable[[Vector, int, Fraction], Vector | None],
) -> None:
    right = project_cone(a, k, rho)
    found = search(a, k, rho)
    trial.exactly(
        found == right if any(right) else found is None,
        "the search does not find the projection",
        found=found,
        projection=right,
    )


def _without_empty_upper(a: Vector, k: int, rho: Fraction) -> Vector | None:
    x = search(a, k, rho)
    return None if x is None or not partition(x, k).upper else x


SEARCH = stated(
    "Projection, search in exact arithmetic",
    draw=draw_target,
    check=_check_exact,
    says={"search": search},
    wrong={
        "|U| = 0 not searched": {"search": _without_empty_upper},
        "rho forgotten": {"search": lambda a, k, rho: search(a, k, ZERO)},
    },
)


# ==========================================================================================
# Section 4, what the projections cost: operations on numbers, counted while they are made.
# ==========================================================================================


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


SEARCH_OPERATIONS = stated(
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
