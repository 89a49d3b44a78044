"""Lemma 3 of the arXiv version: conjugates of functions of score differences."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._gap import of_differences
from verification.paper_statements._rational import Matrix, Vector, draw_mixture, draw_vector
from verification.paper_statements._topk import ZERO, conjugate
from verification.paper_statements.lapin_2016 import stated


def _draw(rng: Rng) -> Inputs:
    m, count = int(rng.integers(2, 5)), int(rng.integers(1, 5))
    y = int(rng.integers(m))
    pieces = [draw_vector(rng, m, spread=2) for _ in range(count)]
    v = draw_mixture(rng, of_differences(pieces, y))
    if rng.random() < 0.5:
        v[int(rng.integers(m))] += Fraction(int(rng.choice([-1, 1])), 2)
    return {"pieces": pieces, "offsets": draw_vector(rng, count, spread=2), "y": y, "v": v}


def _check(
    trial: Trial,
    *,
    pieces: Matrix,
    offsets: Vector,
    y: int,
    v: Vector,
    infinite: Callable[[Vector, int], bool],
) -> None:
    value = conjugate(of_differences(pieces, y), offsets, v)
    trial.exactly(value is None or not infinite(v, y), "the conjugate is finite", conjugate=value)


LEMMA_3 = stated(
    "Lemma 3 of the arXiv version",
    draw=_draw,
    check=_check,
    says={"infinite": lambda v, y: sum(v, ZERO) != 0},
    wrong={
        "unless v_y = 0": {"infinite": lambda v, y: v[y] != 0},
        "unless v = 0": {"infinite": lambda v, y: any(v)},
        "unless v_y <= 0": {"infinite": lambda v, y: v[y] > 0},
    },
)
