"""Proposition 1: the multiclass hinge loss of Crammer and Singer and its conjugate."""

from verification.paper_statements._rational import Vector, dot
from verification.paper_statements._topk import (
    alpha_halfspaces,
    draw_pair,
    hinge_alpha,
    linear_on,
    pair_claim,
    pieces_alpha,
)

CONJUGATE = linear_on(alpha_halfspaces)


def _wrong_sign(b: Vector, c: Vector, k: int) -> object:
    return CONJUGATE(b, [-v for v in c], k)


PROPOSITION_1 = pair_claim(
    "Proposition 1",
    "2.1",
    "max{0, max_j (a+c)_j} and -<c,b> on {b >= 0, <1,b> <= 1} are a conjugate pair",
    draw=lambda rng: draw_pair(rng, k=1),
    value=hinge_alpha,
    pieces=pieces_alpha,
    domain=alpha_halfspaces,
    wrong={
        "sign of the costs": {"formula": _wrong_sign},
        "whole space as domain": {"formula": lambda b, c, k: -dot(c, b)},
        "loss without the maximum with 0": {"value": lambda z, k: max(z)},
    },
)
