"""What is unique at the solutions of (3) and (4)."""

from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import vector
from verification.paper_statements._svm import Plus, draw_plus, of_plus
from verification.paper_statements.xu_2016 import stated

#: Three samples of which two are the same.
TWINS = {
    "x": [vector(1), vector(1), vector(-1)],
    "y": (1, 1, -1),
    "z": [vector(1), vector(1), vector(0)],
    "c": Fraction(1),
    "lam": Fraction(1),
}


@of_plus
def _check_unique(trial: Trial, p: Plus, *, unique: tuple[str, ...]) -> None:
    found: dict[str, set[tuple[Fraction, ...]]] = {
        name: set() for name in ("w", "b", "v~", "xi", "a")
    }
    for point in p.solutions():
        found["w"].add(tuple(p.w(point.a)))
        found["b"].add(tuple(point.mult))
        found["xi"].add(tuple(p.q @ point.a))
        found["v~"].add(tuple(p.vt(point.a)))
        found["a"].add(tuple(point.a))
    trial.exactly(
        all(len(found[name]) == 1 for name in unique),
        "two solutions differ in what is said to be unique",
        solutions={name: sorted(found[name]) for name in unique},
    )


def _draw_twins(rng: Rng) -> Inputs:
    given = draw_plus(rng, most=4, least=3)
    for name in ("x", "y", "z"):  # the first two samples coincide
        values = list(given[name])
        values[1] = values[0]
        given[name] = values
    given["y"] = (given["y"][0], given["y"][0], *[-given["y"][0]] * (len(given["y"]) - 2))
    return given


UNIQUE_PRINTED = stated(
    "Algorithm 1, the dual variables",
    draw=_draw_twins,
    check=_check_unique,
    says={"unique": ("a",)},
    right={"unique": ("w", "b", "v~", "xi")},
    witnesses=(TWINS,),
)

UNIQUE = UNIQUE_PRINTED.corrected(
    "Problem (3), uniqueness", wrong={"alpha too": {"unique": ("w", "a")}}
)
