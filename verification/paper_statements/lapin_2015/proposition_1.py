"""Proposition 1: the multiclass hinge loss of Crammer and Singer and its conjugate."""

from verification.paper_statements._rational import Vector, dot
from verification.paper_statements._topk import (
    alpha_halfspaces,
    draw_pair,
    hinge_alpha,
    linear_on,
    pair,
    pieces_alpha,
)
from verification.paper_statements.lapin_2015 import stated

CONJUGATE = linear_on(alpha_halfspaces)


def _wrong_sign(b: Vector, c: Vector, k: int) -> object:
    return CONJUGATE(b, [-v for v in c], k)


PROPOSITION_1 = stated(
    "Proposition 1",
    **pair(hinge_alpha, pieces_alpha, alpha_halfspaces),
    draw=lambda rng: draw_pair(rng, k=1),
    wrong={
        "sign of the costs": {"formula": _wrong_sign},
        "whole space as domain": {"formula": lambda b, c, k: -dot(c, b)},
        "loss without the maximum with 0": {"value": lambda z, k: max(z)},
    },
)
