"""Lemma 2: one-vs-all scores that increase strictly with the probability are calibrated."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Vector
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.risk import draw_probabilities, optimal


def _draw(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 7))
    return {
        "p": draw_probabilities(rng, m, least=0, largest=5),
        "steps": [Fraction(int(v), 3) for v in rng.integers(1, 4, size=m)],
        "k": int(rng.integers(1, m)),
    }


def increasing(p: Vector, steps: Vector) -> Vector:
    """A strictly increasing function of the probabilities: partial sums of positive steps."""
    height: dict[Fraction, Fraction] = {}
    total = Fraction(-2)
    for value, step in zip(sorted(set(p)), steps, strict=False):
        total += step
        height[value] = total
    return [height[v] for v in p]


def _levelled(p: Vector, steps: Vector) -> Vector:
    """Nondecreasing only: all below 1/2 alike."""
    return increasing([max(v, Fraction(1, 2)) for v in p], steps)


def _check(
    trial: Trial, *, p: Vector, steps: Vector, k: int, scores: Callable[[Vector, Vector], Vector]
) -> None:
    g = scores(p, steps)
    trial.exactly(optimal(g, p, k), "some guesses that the scores allow are not optimal", g=g)


LEMMA_2 = stated(
    "Lemma 2",
    draw=_draw,
    check=_check,
    says={"scores": increasing},
    wrong={
        "h nondecreasing only": {"scores": _levelled},
        "h decreasing": {"scores": lambda p, steps: [-v for v in increasing(p, steps)]},
    },
)
