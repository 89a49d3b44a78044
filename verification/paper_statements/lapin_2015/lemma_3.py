"""Lemma 3: the three cases of the biased projection on the top-k cone."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._cone import Partition, draw_target, partition, project_cone
from verification.paper_statements._rational import Vector, vector
from verification.paper_statements._topk import ZERO, kth, top
from verification.paper_statements.lapin_2015 import stated

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
    witnesses=({"a": vector(-1, -1, -1), "k": 2, "rho": ZERO},),
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
