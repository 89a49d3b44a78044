"""Proposition 1: the multiclass hinge loss of Crammer and Singer and its conjugate."""

from __future__ import annotations

from verification.claims import Claim
from verification.claims._rational import Vector, dot
from verification.claims._topk import (
    alpha_halfspaces,
    check_pair,
    draw_pair,
    hinge_alpha,
    linear_on,
    pieces_alpha,
)

CONJUGATE = linear_on(alpha_halfspaces)


def _wrong_sign(b: Vector, c: Vector, k: int) -> object:
    return CONJUGATE(b, [-v for v in c], k)


PROPOSITION_1 = Claim(
    number="Proposition 1",
    section="2.1",
    statement="max{0, max_j (a+c)_j} and -<c,b> on {b >= 0, <1,b> <= 1} are a conjugate pair",
    method="rational linear programs in both directions, from the definition of the conjugate",
    expected="verified",
    draw=lambda rng: draw_pair(rng, k=1),
    check=check_pair,
    says={
        "value": hinge_alpha,
        "pieces": pieces_alpha,
        "domain": alpha_halfspaces,
        "formula": CONJUGATE,
    },
    wrong={
        "sign of the costs": {"formula": _wrong_sign},
        "whole space as domain": {"formula": lambda b, c, k: -dot(c, b)},
        "loss without the maximum with 0": {"value": lambda z, k: max(z)},
    },
    instances=300,
)
