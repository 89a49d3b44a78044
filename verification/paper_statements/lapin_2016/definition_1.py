"""Definition 1: top-k calibration, and what it needs of the error where scores are tied.

The softmax loss is the test case: its minimisers are g = log p plus a constant (Proposition 4), so
that they order the classes as p does.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Vector, vector
from verification.paper_statements._topk import ZERO
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.lapin_2016.lemma_1 import (
    error_printed,
    error_with_ties,
    expected_error,
)
from verification.paper_statements.risk import draw_probabilities, guesses

#: (scores, probabilities, k) -> expected top-k error
Expected = Callable[[Vector, Vector, int], Fraction]


def printed(g: Vector, p: Vector, k: int) -> Fraction:
    """Expected error with (1) as printed."""
    return expected_error(error_printed, g, p, k)


def ties_err(g: Vector, p: Vector, k: int) -> Fraction:
    """Expected error if k others at the score of the true class make an error."""
    return expected_error(error_with_ties, g, p, k)


def worst_guess(g: Vector, p: Vector, k: int) -> Fraction:
    """Expected error of k guesses if ties are broken in the worst way."""
    return max(1 - sum((p[i] for i in chosen), ZERO) for chosen in guesses(g, k))


def _draw(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 5))
    return {"p": draw_probabilities(rng, m, largest=4), "k": int(rng.integers(1, m))}


def _check(trial: Trial, *, p: Vector, k: int, expected: Expected, scores: Callable) -> None:
    orders = (vector(*values) for values in product(range(len(p)), repeat=len(p)))
    least = min(expected(g, p, k) for g in orders)
    error = expected(scores(p), p, k)
    trial.exactly(
        error == least,
        "the softmax loss's minimiser log p has not the least expected error",
        error=error,
        least=least,
    )


PRINTED = stated(
    "Definition 1 with (1) as printed",
    draw=_draw,
    check=_check,
    says={"expected": printed, "scores": lambda p: p},
    right={"expected": worst_guess},
    witnesses=({"p": vector("3/5", "2/5"), "k": 1},),
)

TIES_ERR = PRINTED.also(
    "Definition 1 with ties as errors",
    says={"expected": ties_err},
    right={"expected": worst_guess},
    witnesses=({"p": vector("2/5", "3/10", "3/10"), "k": 2},),
)

GUESSES = PRINTED.corrected(
    "Definition 1, corrected",
    wrong={
        "ties as errors": {"expected": ties_err},
        "as printed": {"expected": printed},
        "least probable first": {"scores": lambda p: [-v for v in p]},
    },
)
