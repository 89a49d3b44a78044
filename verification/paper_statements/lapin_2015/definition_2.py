"""Definition 2: the condition under which Lemma 2 gives the conjugate, and no other."""

from collections.abc import Callable

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._gap import of_differences
from verification.paper_statements._rational import Matrix, Vector, draw_mixture, draw_vector
from verification.paper_statements._topk import conjugate
from verification.paper_statements.lapin_2015 import stated
from verification.paper_statements.lapin_2015.lemma_2 import zeroed

Compatible = Callable[[Matrix, Vector, Vector, int], bool]


def _draw(rng: Rng) -> Inputs:
    m, count = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    j = int(rng.integers(m))
    pieces = [draw_vector(rng, m, spread=2) for _ in range(count)]
    if rng.random() < 0.5:
        pieces += [zeroed(piece, j) for piece in pieces]  # compatible: see Lemma 2
    y = draw_mixture(rng, [zeroed(piece, j) for piece in pieces])
    return {"pieces": pieces, "offsets": draw_vector(rng, len(pieces), spread=2), "j": j, "y": y}


def compatible(pieces: Matrix, offsets: Vector, y: Vector, j: int) -> bool:
    """Whether sup <y,x> - phi(x) over x_j = 0 is phi*(y), at a y with y_j = 0."""
    # With x_j = 0 the slopes in x_j do not matter: they are as good as 0, and then x_j is free.
    restricted = conjugate([zeroed(piece, j) for piece in pieces], offsets, y)
    return restricted == conjugate(pieces, offsets, y)


def _check(
    trial: Trial, *, pieces: Matrix, offsets: Vector, j: int, y: Vector, condition: Compatible
) -> None:
    balanced = [v - sum(y) * (i == j) for i, v in enumerate(y)]
    left = conjugate(of_differences(pieces, j), offsets, balanced)
    right = conjugate(pieces, offsets, y)
    trial.exactly(
        (left == right) == condition(pieces, offsets, y, j),
        "Lemma 2 holds without the condition, or fails with it",
        from_definition=left,
        from_formula=right,
    )


DEFINITION_2 = stated(
    "Definition 2",
    draw=_draw,
    check=_check,
    says={"condition": compatible},
    wrong={
        "always": {"condition": lambda pieces, offsets, y, j: True},
        "phi without a slope in x_j": {
            "condition": lambda pieces, offsets, y, j: all(p[j] == 0 for p in pieces)
        },
    },
)
