"""Proposition 3: the multiclass hinge loss is not calibrated, for any k."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Vector, vector
from verification.paper_statements._topk import ONE, ZERO
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.risk import (
    draw_probabilities,
    gap,
    hinge_alpha_pieces,
    minimisers,
    risk,
)

HALF = Fraction(1, 2)


def _draw(rng: Rng) -> Inputs:
    p = draw_probabilities(rng, int(rng.integers(2, 5)), largest=6)
    first = int(rng.integers(len(p)))
    if rng.random() < 0.5:  # half of the instances have one class above 1/2
        p[first] += 1
        p = [v / 2 for v in p]
    return {"p": p}


def bayes(p: Vector) -> Vector:
    """The printed minimiser: a lead of 1 for a class with p_y >= 1/2, else a constant."""
    first = p.index(max(p))
    return [ONE if j == first and max(p) >= HALF else ZERO for j in range(len(p))]


def _check_risk(
    trial: Trial,
    *,
    p: Vector,
    bayes: Callable[[Vector], Vector],
    least: Callable[[Vector], Fraction],
) -> None:
    loss = [hinge_alpha_pieces(len(p), 1, y) for y in range(len(p))]
    found = minimisers(p, loss).least
    trial.exactly(least(p) == found, "the least risk differs", stated=least(p), least=found)
    trial.exactly(
        risk(p, loss, bayes(p)) == found, "the stated function is no minimiser", bayes=bayes(p)
    )


BAYES = stated(
    "Proposition 3, Bayes optimal function",
    draw=_draw,
    check=_check_risk,
    says={"bayes": bayes, "least": lambda p: min(ONE, 2 * (1 - max(p)))},
    wrong={
        "always a lead of 1": {"bayes": lambda p: [Fraction(int(v == max(p))) for v in p]},
        "a lead of 2": {"bayes": lambda p: [2 * v for v in bayes(p)]},
        "least risk 1 - max p": {"least": lambda p: 1 - max(p)},
    },
)


def _check_ties(trial: Trial, *, p: Vector, lead: Callable[[Vector], Fraction | None]) -> None:
    stated = lead(p)
    if stated is None:
        trial.nothing_claimed()
        return
    m = len(p)
    found = minimisers(p, [hinge_alpha_pieces(m, 1, y) for y in range(m)])
    first = p.index(max(p))
    for j in (c for c in range(m) if c != first):
        ahead = found.largest(gap(m, first, j)), found.largest(gap(m, j, first))
        trial.exactly(
            ahead == (stated, -stated), "some minimiser has another lead", j=j, between=ahead
        )


def _lead(p: Vector) -> Fraction | None:
    return None if max(p) == HALF else Fraction(int(max(p) > HALF))


PROPOSITION_3 = stated(
    "Proposition 3",
    draw=_draw,
    check=_check_ties,
    says={"lead": _lead},
    wrong={
        "constant for max p < 2/3": {"lead": lambda p: Fraction(int(max(p) > Fraction(2, 3)))},
        "at 1/2 too": {"lead": lambda p: Fraction(int(max(p) >= HALF))},
    },
    witnesses=({"p": vector("2/5", "7/20", "1/4")}, {"p": vector("3/5", "3/10", "1/10")}),
)
