"""Lemma 2: the conjugate of a loss of score differences."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._gap import of_differences
from verification.paper_statements._rational import Matrix, Vector, draw_mixture, draw_vector
from verification.paper_statements._topk import conjugate
from verification.paper_statements.lapin_2015 import stated

Formula = Callable[[Matrix, Vector, Vector, int], Fraction | None]


def zeroed(u: Vector, j: int) -> Vector:
    """The vector with 0 at place j: u - u_j e_j."""
    return [*u[:j], Fraction(0), *u[j + 1 :]]


def _draw(rng: Rng) -> Inputs:
    m, count = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    j = int(rng.integers(m))
    free = [draw_vector(rng, m, spread=2) for _ in range(count)]
    # Each piece also without its slope in x_j: this makes the maximum j-compatible, because
    # a point of the domain stays in it, at no higher conjugate, when its entry j is dropped.
    pieces = free + [zeroed(piece, j) for piece in free]
    offsets = 2 * draw_vector(rng, count, spread=2)
    y = draw_mixture(rng, [zeroed(piece, j) for piece in pieces])
    y[j] = -sum(y, Fraction(0))
    if rng.random() < 0.4:
        y[int(rng.integers(m))] += Fraction(int(rng.choice([-1, 1])), 2)
    return {"pieces": pieces, "offsets": offsets, "j": j, "y": y}


def formula(pieces: Matrix, offsets: Vector, y: Vector, j: int) -> Fraction | None:
    """phi*(y - y_j e_j) if <1,y> = 0, +infinity otherwise."""
    return conjugate(pieces, offsets, zeroed(y, j)) if sum(y) == 0 else None


def _check(
    trial: Trial, *, pieces: Matrix, offsets: Vector, j: int, y: Vector, formula: Formula
) -> None:
    left = conjugate(of_differences(pieces, j), offsets, y)
    right = formula(pieces, offsets, y, j)
    trial.exactly(
        left == right,
        "the conjugate of phi(x - x_j 1) differs from the formula (None stands for +infinity)",
        from_definition=left,
        from_formula=right,
    )


LEMMA_2 = stated(
    "Lemma 2",
    draw=_draw,
    check=_check,
    says={"formula": formula},
    wrong={
        "entry j kept": {"formula": lambda p, o, y, j: conjugate(p, o, y) if sum(y) == 0 else None},
        "no condition on the sum": {"formula": lambda p, o, y, j: conjugate(p, o, zeroed(y, j))},
    },
)
