"""The biased projection on the top-k cone and simplex: lemmas 3 to 5."""

from collections.abc import Callable
from fractions import Fraction
from typing import Any

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._cone import (
    Partition,
    draw_target,
    partition,
    project_cone,
    project_simplex,
)
from verification.paper_statements._rational import Vector, dot, draw_vector, maximise, put
from verification.paper_statements._topk import ONE, ZERO, inside, kth, top
from verification.paper_statements.lapin_2015 import stated

# ==========================================================================================
# Lemma 3: the three cases of the biased projection on the top-k cone.
# ==========================================================================================

System = Callable[[Vector, Partition, int, Fraction], tuple[Fraction, Fraction]]


def leaders(a: Vector, k: int) -> tuple[int, ...]:
    """Indices of the k largest entries (the first ones among equals)."""
    return tuple(sorted(sorted(range(len(a)), key=lambda i: (-a[i], i))[:k]))


def top_value(a: Vector, k: int, rho: Fraction) -> Fraction:
    """S_k(a)/(k + rho k^2)."""
    return top(a, k) / (k + rho * k**2)


# --------------------------------------------------------------------------------- cases 1 and 2


def _check_printed(
    trial: Trial,
    *,
    a: Vector,
    k: int,
    rho: Fraction,
    value: Callable[[Vector, int, Fraction], Fraction],
    concerned: Callable[[Vector], bool],
) -> None:
    x = project_cone(a, k, rho)
    sets = partition(x, k)
    if sets.middle or not concerned(x):
        trial.nothing_claimed()
    elif not sets.upper:
        trial.exactly(not any(x), "case 1: U and M are empty, x is not 0", x=x)
    else:
        constant = value(a, k, rho)
        trial.exactly(
            sets.upper == leaders(a, k) and all(x[i] == constant for i in sets.upper),
            "case 2: M is empty, U is not, and x is not constant on the k largest entries",
            x=x,
            U=sets.upper,
            value=constant,
        )


CASES_PRINTED = stated(
    "Lemma 3, cases 1 and 2",
    draw=draw_target,
    check=_check_printed,
    says={"value": top_value, "concerned": lambda x: True},
    right={"concerned": any},
)


def _is_zero(a: Vector, k: int, rho: Fraction) -> bool:
    return top(a, k) <= 0


def _is_constant(a: Vector, k: int, rho: Fraction) -> bool:
    """Whether M is empty at a projection other than 0."""
    return k == len(a) or top_value(a, k, rho) <= kth(a, k) - kth(a, k + 1)


def _check_cases(
    trial: Trial,
    *,
    a: Vector,
    k: int,
    rho: Fraction,
    zero: Callable[[Vector, int, Fraction], bool],
    constant: Callable[[Vector, int, Fraction], bool],
    value: Callable[[Vector, int, Fraction], Fraction],
) -> None:
    x = project_cone(a, k, rho)
    trial.exactly((not any(x)) == zero(a, k, rho), "x = 0 and its condition differ", x=x)
    if not any(x):
        return
    sets = partition(x, k)
    trial.exactly((not sets.middle) == constant(a, k, rho), "M = {} and its condition differ", x=x)
    if not sets.middle:
        trial.exactly(
            sets.upper == leaders(a, k)
            and x == [value(a, k, rho) if i in sets.upper else ZERO for i in range(len(a))],
            "x is not constant on the k largest entries",
            x=x,
        )


CASES_RIGHT = stated(
    "Lemma 3, cases 1 and 2, corrected",
    draw=draw_target,
    check=_check_cases,
    says={"zero": _is_zero, "constant": _is_constant, "value": top_value},
    wrong={
        "zero if all entries are": {"zero": lambda a, k, rho: max(a) <= 0},
        "gap condition without rho": {"constant": lambda a, k, rho: _is_constant(a, k, ZERO)},
        "strict gap condition": {
            "constant": lambda a, k, rho: (
                k == len(a) or top_value(a, k, rho) < kth(a, k) - kth(a, k + 1)
            )
        },
        "value with rho k": {"value": lambda a, k, rho: top(a, k) / (k + rho * k)},
    },
)


# ---------------------------------------------------------------------------------------- case 3


def solve_system(
    sizes: tuple[int, int], sums: tuple[Fraction, Fraction], k: int, rho: Fraction
) -> tuple[Fraction, Fraction]:
    """(t, u) from (6), t = t' + rho u k, by the sizes of U and M and the sums of a over them."""
    (u_size, m_size), (u_sum, m_sum) = sizes, sums
    big_d = (k - u_size) ** 2 + (u_size + rho * k**2) * m_size
    u = (m_size * u_sum + (k - u_size) * m_sum) / big_d
    t = (u_size * (1 + rho * k) * m_sum - (k - u_size + rho * k * m_size) * u_sum) / big_d
    return t + rho * u * k, u


def system(a: Vector, sets: Partition, k: int, rho: Fraction) -> tuple[Fraction, Fraction]:
    """(t, u) of a partition."""
    sums = sum((a[i] for i in sets.upper), ZERO), sum((a[i] for i in sets.middle), ZERO)
    return solve_system((len(sets.upper), len(sets.middle)), sums, k, rho)


def thresholds_fit(a: Vector, sets: Partition, t: Fraction, u: Fraction) -> bool:
    """The feasibility constraints (7); a maximum or minimum over nothing is no constraint."""
    return (
        all(a[i] <= t for i in sets.lower)
        and all(t <= a[i] <= t + u for i in sets.middle)
        and all(t + u <= a[i] for i in sets.upper)
    )


def clipped(a: Vector, t: Fraction, u: Fraction) -> Vector:
    """min{max{0, a - t}, u}."""
    return [min(max(ZERO, v - t), u) for v in a]


def _check_system(trial: Trial, *, a: Vector, k: int, rho: Fraction, system: System) -> None:
    x = project_cone(a, k, rho)
    sets = partition(x, k)
    if not sets.middle:
        trial.nothing_claimed()
        return
    t, u = system(a, sets, k, rho)
    trial.exactly(thresholds_fit(a, sets, t, u), "(7) does not hold", x=x, t=t, u=u)
    trial.exactly(clipped(a, t, u) == x, "x is not min{max{0, a - t}, u}", x=x, t=t, u=u)
    trial.exactly(len(sets.upper) < k < len(sets.upper) + len(sets.middle), "sizes of U and M")


def _draw_case_3(rng: Rng) -> Inputs:
    while True:
        given = draw_target(rng, positive=True)
        if not _is_constant(given["a"], given["k"], given["rho"]):
            return given


CASE_3 = stated(
    "Lemma 3, case 3",
    draw=_draw_case_3,
    check=_check_system,
    says={"system": system},
    wrong={
        "t without rho u k": {
            "system": lambda a, s, k, rho: (
                system(a, s, k, rho)[0] - rho * k * system(a, s, k, rho)[1],
                system(a, s, k, rho)[1],
            )
        },
        "rho = 0": {"system": lambda a, s, k, rho: system(a, s, k, ZERO)},
        "D with rho k": {"system": lambda a, s, k, rho: system(a, s, k, rho / k)},
    },
)


# ==========================================================================================
# Lemma 4: when the biased projection on the top-k cone is 0.
# ==========================================================================================

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
)


# ==========================================================================================
# Lemma 5: the multiplier that tells the knapsack solution from the cone solution.
# ==========================================================================================

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


# ==========================================================================================
# Section 4.1: the continuous quadratic knapsack problem.
# ==========================================================================================


def budgeted(
    a: Vector, b: Vector, low: Vector, high: Vector, capacity: Fraction, least: Fraction
) -> Vector:
    """X = min{max{a - t b, low}, high} with the least t >= ``least`` for which <b,x> <= capacity."""

    def at(t: Fraction) -> Vector:
        return [min(max(v - t * w, lo), hi) for v, w, lo, hi in zip(a, b, low, high, strict=True)]

    ends = [(v - end) / w for v, w, *ends in zip(a, b, low, high, strict=True) if w for end in ends]
    knots = [least, *sorted(t for t in ends if t > least)]
    met = next((i for i, t in enumerate(knots) if dot(b, at(t)) <= capacity), len(knots) - 1)
    t = knots[met]
    if met > 0:
        before = knots[met - 1]
        more, less = dot(b, at(before)), dot(b, at(t))
        t = before + (more - capacity) / (more - less) * (t - before)
    return at(t)


def _draw_budget(rng: Rng) -> Inputs:
    d = int(rng.integers(1, 5))
    low = draw_vector(rng, d)
    high = [v + int(w) for v, w in zip(low, rng.integers(0, 4, d), strict=True)]
    b = draw_vector(rng, d, 3, 1)
    least = sum((w * (lo if w > 0 else hi) for w, lo, hi in zip(b, low, high, strict=True)), ZERO)
    capacity = least + Fraction(int(rng.integers(0, 13)), 2)
    return {"a": draw_vector(rng, d), "b": b, "low": low, "high": high, "capacity": capacity}


def _check_budget(
    trial: Trial, *, a: Vector, b: Vector, low: Vector, high: Vector, capacity: Fraction,
    least: Fraction,
) -> None:  # fmt: skip
    """No point y of the set has <a - x, y - x> > 0."""
    x, d = budgeted(a, b, low, high, capacity, least), len(a)
    units = [put([ZERO] * (d - 1), i, sign) for sign in (ONE, -ONE) for i in range(d)]
    rows, limits = [*units, b], [*high, *(-v for v in low), capacity]
    room = [limit - dot(row, x) for row, limit in zip(rows, limits, strict=True)]
    descent = [v - w for v, w in zip(a, x, strict=True)]
    best = inside(x, (rows, limits)) and maximise(descent, rows, room).value == ZERO
    trial.exactly(best, "it is not the projection", x=x)


BUDGET = stated(
    "Knapsack problem",
    draw=_draw_budget,
    check=_check_budget,
    says={"least": ZERO},
    wrong={"t of any sign": {"least": Fraction(-1000)}, "t >= 1": {"least": ONE}},
)


def _draw_simplex(rng: Rng) -> Inputs:
    a = draw_vector(rng, int(rng.integers(1, 6)))
    low, high = [ZERO] * len(a), [ONE] * len(a)
    return {"a": a, "b": high, "low": low, "high": high, "capacity": ONE}


def _check_simplex(trial: Trial, *, a: Vector, least: Fraction, **given: Any) -> None:
    x = budgeted(a, **given, least=least)
    right = project_simplex(a, 1, ZERO, ONE)
    trial.exactly(x == right, "another point than the projection", x=x, projection=right)


SIMPLEX = stated(
    "Knapsack problem, the simplex",
    draw=_draw_simplex,
    check=_check_simplex,
    says={"least": ZERO},
    wrong={"<1,x> = 1": {"least": Fraction(-1000)}},
)
