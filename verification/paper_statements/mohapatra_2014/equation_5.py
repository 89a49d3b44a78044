"""Equation (5) as a number to compute: its two forms, rounding, and a closed form of its sums."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import ZERO, delta, draw_lists, objective
from verification.paper_statements._rational import Vector
from verification.paper_statements.mohapatra_2014 import stated

# ------------------------------------------------------------------------ as gains of a ranking


def _check_gain(
    trial: Trial,
    *,
    s: Vector,
    t: Vector,
    counts: tuple[int, ...],
    gain: Callable[[int, Vector, Vector], list[Fraction]],
) -> None:
    p, n = len(s), len(t)
    ranks = [p + 1 - sum(c >= j for c in counts) for j in range(1, n + 1)]
    total = sum((gain(j, s, t)[i - 1] for j, i in enumerate(ranks, 1)), ZERO)
    value = objective(counts, s, t)
    trial.exactly(total == value, "the gains add up to another value", total=total, value=value)


def _draw_ranking(rng: Any) -> Inputs:
    given = draw_lists(rng)
    counts = sorted(int(v) for v in rng.integers(0, len(given["t"]) + 1, len(given["s"])))
    return {**given, "counts": tuple(counts)}


GAIN = stated(
    "Equation (5)",
    draw=_draw_ranking,
    check=_check_gain,
    says={"gain": delta},
    wrong={
        "j + 1 for j": {"gain": lambda j, s, t: delta(j + 1, s, [t[0], *t])},
        "sum from i + 1": {"gain": lambda j, s, t: [*delta(j, s, t)[1:], ZERO]},
        "score without 2": {
            "gain": lambda j, s, t: delta(j, [v / 2 for v in s], [v / 2 for v in t])
        },
    },
)

# -------------------------------------------------------------------------- two forms


def printed(j: int, k: int) -> Fraction:
    """j/(j+k) - (j-1)/(j+k-1)."""
    return Fraction(j, j + k) - Fraction(j - 1, j + k - 1)


def product(j: int, k: int) -> Fraction:
    """k/((j+k)(j+k-1))."""
    return Fraction(k, (j + k) * (j + k - 1))


def _check_forms(trial: Trial, *, j: int, k: int, form: Callable[[int, int], Fraction]) -> None:
    # What (5) is for: the precision that positive k loses when a j-th negative comes above it.
    lost = Fraction(k, k + j - 1) - Fraction(k, k + j)
    trial.exactly(printed(j, k) == lost, "not the loss of precision", lost=lost)
    trial.exactly(form(j, k) == lost, "another value", value=form(j, k), lost=lost)


FORMS = stated(
    "Equation (5), precision lost",
    draw=lambda rng: {"j": int(rng.integers(1, 10**6)), "k": int(rng.integers(1, 10**4))},
    check=_check_forms,
    says={"form": product},
    wrong={
        "j for k": {"form": lambda j, k: Fraction(j, (j + k) * (j + k - 1))},
        "j+k+1 for j+k-1": {"form": lambda j, k: Fraction(k, (j + k) * (j + k + 1))},
        "1/P k/(j+k)": {"form": lambda j, k: Fraction(k, j + k)},
    },
)

# --------------------------------------------------------------------------------- with rounding

#: (j, k) as arrays of one entry -> the value in the arithmetic of these
Formula = Callable[[Any, Any], Any]


def differences(j: Any, k: Any) -> Any:
    """As printed."""
    return j / (j + k) - (j - 1) / (j + k - 1)


def quotients(j: Any, k: Any) -> Any:
    """k/((j+k)(j+k-1)), two divisions."""
    return k / (j + k) / (j + k - 1)


def one_quotient(j: Any, k: Any) -> Any:
    """k/((j+k)(j+k-1)), the product first."""
    return k / ((j + k) * (j + k - 1))


def _check_rounded(
    trial: Trial, *, j: int, k: int, formulas: Sequence[Formula], kinds: Sequence[type], bits: int
) -> None:
    exact = product(j, k)
    for formula in formulas:
        for kind in kinds:
            value = Fraction(
                float(formula(np.array([j], dtype=kind), np.array([k], dtype=kind))[0])
            )
            error = abs(value - exact) / exact
            trial.exactly(
                error <= Fraction(8, 2**bits),
                "the relative error is larger than 8 units of rounding",
                value=float(value),
                error=float(error),
            )


def _draw_rounded(rng: Rng) -> Inputs:
    j = int(10 ** rng.uniform(0, 6.5))
    return {"j": j, "k": int(rng.integers(1, 301))}


MILLION = {"j": 10**6, "k": 1}

ROUNDED_PRINTED = stated(
    "Equation (5) in double precision",
    draw=_draw_rounded,
    check=_check_rounded,
    says={"formulas": (differences,), "kinds": (np.float64,), "bits": 53},
    right={"formulas": (quotients, one_quotient)},
    witnesses=(MILLION,),
)

SINGLE_PRINTED = ROUNDED_PRINTED.also(
    "Equation (5) in single precision",
    says={"kinds": (np.float32,), "bits": 24},
    right={"formulas": (quotients, one_quotient)},
    witnesses=(MILLION,),
)

ROUNDED_RIGHT = ROUNDED_PRINTED.corrected(
    "Equation (5), rounding, corrected",
    says={"kinds": (np.float64, np.int64)},
    wrong={
        "as printed": {"formulas": (differences,)},
        "32-bit integers": {"kinds": (np.int32,)},
        "single precision": {"kinds": (np.float32,)},
    },
)

# ------------------------------------------------------------------------------------ closed form


def harmonic(n: int) -> Fraction:
    """H_n."""
    return sum((Fraction(1, i) for i in range(1, n + 1)), ZERO)


def closed(j: int, i: int, p: int) -> Fraction:
    """H_(j+P-1) - H_(j+i-2) - j (1/(j+i-1) - 1/(j+P))."""
    return (
        harmonic(j + p - 1)
        - harmonic(j + i - 2)
        - j * (Fraction(1, j + i - 1) - Fraction(1, j + p))
    )


def _draw_sum(rng: Rng) -> Inputs:
    p = int(rng.integers(1, 13))
    return {"p": p, "i": int(rng.integers(1, p + 2)), "j": int(rng.integers(1, 20))}


def _check_sum(
    trial: Trial, *, p: int, i: int, j: int, total: Callable[[int, int, int], Fraction]
) -> None:
    value = sum((product(j, k) for k in range(i, p + 1)), ZERO)
    found = total(j, i, p)
    trial.exactly(value == found, "the sum is another", value=value, found=found)


CLOSED = stated(
    "Equation (5), sums in closed form",
    draw=_draw_sum,
    check=_check_sum,
    says={"total": closed},
    wrong={
        "without the last part": {
            "total": lambda j, i, p: harmonic(j + p - 1) - harmonic(j + i - 2)
        },
        "one place on": {"total": lambda j, i, p: closed(j, i + 1, p)},
    },
)
