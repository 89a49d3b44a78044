"""Proposition 1: the one-vs-all hinge loss is not calibrated."""

from fractions import Fraction
from itertools import product

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Function, Vector, vector
from verification.paper_statements._topk import ONE, ZERO
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.risk import (
    Piece,
    constant_only,
    draw_probabilities,
    minimisers,
    optimal,
)

HALF = Fraction(1, 2)


def pieces(m: int, y: int) -> list[Piece]:
    """Pieces of the sum over classes of max(0, 1 + g_j), and max(0, 1 - g_y)."""
    signs = [-ONE if j == y else ONE for j in range(m)]
    return [
        ([sign * int(on) for sign, on in zip(signs, active, strict=True)], Fraction(sum(active)))
        for active in product((0, 1), repeat=m)
    ]


def _draw_binary(rng: Rng) -> Inputs:
    return {
        "p": Fraction(int(rng.integers(0, 13)), 12),
        "other": Fraction(int(rng.integers(-9, 10)), 4),
    }


def _check_binary(trial: Trial, *, p: Fraction, other: Fraction, bayes: Function) -> None:
    def risk(f: Fraction) -> Fraction:
        return p * max(ZERO, 1 - f) + (1 - p) * max(ZERO, 1 + f)

    trial.exactly(
        risk(bayes(p)) <= min(risk(f) for f in (other, -ONE, ZERO, ONE)),
        "another score has a lower risk",
        bayes=bayes(p),
    )


BINARY = stated(
    "Proposition 1, Bayes optimal function",
    draw=_draw_binary,
    check=_check_binary,
    says={"bayes": lambda p: Fraction(1 if p > HALF else -1)},
    wrong={
        "threshold 1/3": {"bayes": lambda p: Fraction(1 if p > Fraction(1, 3) else -1)},
        "2p - 1": {"bayes": lambda p: 2 * p - 1},
    },
)


def _draw(rng: Rng) -> Inputs:
    while True:
        p = draw_probabilities(rng, int(rng.integers(3, 5)))
        if rng.random() < 0.3:  # one class above 1/2
            first = int(rng.integers(len(p)))
            return {"p": [(v + int(j == first)) / 2 for j, v in enumerate(p)]}
        if max(p) < HALF:
            return {"p": p}


def _check(trial: Trial, *, p: Vector, bound: Fraction) -> None:
    if max(p) >= bound:
        trial.nothing_claimed()
        return
    found = minimisers(p, [pieces(len(p), y) for y in range(len(p))])
    trial.exactly(
        constant_only(found) and all(v == -1 for v in found.g),
        "some minimiser is not the constant -1",
        g=found.g,
    )
    if len(set(p)) > 1:
        order = sorted(range(len(p)), key=lambda y: -p[y])
        wrong = next(k for k in range(1, len(p)) if p[order[k - 1]] > p[order[k]])
        trial.exactly(not optimal(found.g, p, wrong), "the constant is optimal", k=wrong)


PROPOSITION_1 = stated(
    "Proposition 1",
    draw=_draw,
    check=_check,
    says={"bound": HALF},
    wrong={"p_y < 2/3": {"bound": Fraction(2, 3)}, "any p": {"bound": Fraction(2)}},
    witnesses=({"p": vector("2/5", "3/10", "3/10")},),
)
