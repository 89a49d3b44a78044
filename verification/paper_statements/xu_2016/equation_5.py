"""Equation (5), the deformed kernel: equal forms, weights."""

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Function
from verification.paper_statements._svm import (
    ONE,
    Matrix,
    Plus,
    Vector,
    deformed,
    draw_plus,
    identity,
    inverse,
    of_plus,
    semidefinite,
)
from verification.paper_statements.xu_2016 import stated

#: (K~, C, lam) -> Q
Form = Callable[[Matrix, Fraction, Fraction], Matrix]


def printed(kt: Matrix, c: Fraction, lam: Fraction) -> Matrix:
    """(5) as it stands."""
    return (kt - kt @ inverse(lam / c * identity(len(kt)) + kt) @ kt) / lam


@of_plus
def _check(trial: Trial, p: Plus, *, form: Form) -> None:
    right = p.zt @ inverse(p.normal) @ p.zt.T
    found = form(p.kt, p.c, p.lam)
    same = np.array_equal(found, right)
    trial.exactly(same, "Q is another matrix", found=found, right=right)
    above = identity(len(p.zt)) / p.c - found
    trial.exactly(semidefinite(found) and semidefinite(above), "not within 0, I/C", found=found)


FORMS = stated(
    "Equation (5)",
    draw=draw_plus,
    check=_check,
    says={"form": printed},
    wrong={
        "C/lam for lam/C": {"form": lambda kt, c, lam: printed(kt, lam, c)},
        "lam for 1/lam": {"form": lambda kt, c, lam: lam * lam * printed(kt, c, lam)},
        "K~ without + 1": {"form": lambda kt, c, lam: printed(kt - 1, c, lam)},
        "+ for -": {"form": lambda kt, c, lam: 2 / lam * kt - printed(kt, c, lam)},
    },
)

SHORT = FORMS.also(
    "Equation (5), short form",
    says={"form": deformed},
    wrong={
        "lam and C exchanged": {"form": lambda kt, c, lam: deformed(kt, lam, c)},
        "(lam I + C K~)^-1": {"form": lambda kt, c, lam: inverse(lam * identity(len(kt)) + c * kt)},
    },
)


# --------------------------------------------------------------------------------------- weights


def _draw_weighted(rng: Rng) -> Inputs:
    given = draw_plus(rng, most=3)
    return {**given, "weights": [Fraction(int(v)) for v in rng.integers(1, 3, len(given["y"]))]}


@of_plus
def _check_weighted(trial: Trial, p: Plus, *, weights: Vector, effective: Function) -> None:
    again = np.repeat(np.arange(len(p.y)), [int(t) for t in weights])
    repeated = Plus(p.x[again], p.y[again], p.z[again], p.c, p.lam).solved
    found = replace(p, weights=np.array([effective(t) for t in weights])).solved
    trial.exactly(
        (found.value, *found.w, found.b) == (repeated.value, *repeated.w, repeated.b),
        "weighted and repeated samples give different solutions",
        weighted=found.value,
        repeated=repeated.value,
    )


WEIGHTS = stated(
    "Equation (5), weighted",
    draw=_draw_weighted,
    check=_check_weighted,
    says={"effective": lambda t: t},
    wrong={
        "weights ignored": {"effective": lambda t: ONE},
        "weights squared": {"effective": lambda t: t * t},
    },
)
