"""Proposition 10: the update of the smooth top-k hinge is a biased projection."""

from collections.abc import Mapping
from fractions import Fraction
from typing import Any

from verification.paper_statements import Inputs, Rng
from verification.paper_statements._rational import Array
from verification.paper_statements._topk import ONE
from verification.paper_statements._update import (
    check_identity,
    check_numerically,
    differences,
    draw_update,
)
from verification.paper_statements.lapin_2016 import stated


def target(q: Array, y: int, k_ii: Fraction, smoothing: Fraction) -> Array:
    """B = (q without y + (1 - q_y) 1)/(<x_i,x_i> + gamma n lam)."""
    return differences(q, y) / (k_ii + smoothing)


def bias(k_ii: Fraction, smoothing: Fraction) -> Fraction:
    """Rho = <x_i,x_i>/(<x_i,x_i> + gamma n lam)."""
    return k_ii / (k_ii + smoothing)


def _draw(rng: Rng) -> Inputs:
    gamma = Fraction(int(rng.integers(1, 9)), 4)
    return {**draw_update(rng, zero_examples=True), "gamma": gamma}


SAYS = {"target": target, "bias": bias, "radius": lambda problem: problem.radius}
WRONG: Mapping[str, Mapping[str, Any]] = {
    "rho = 1": {"bias": lambda k_ii, smoothing: ONE},
    "gamma forgotten in b": {
        "target": lambda q, y, k_ii, smoothing: target(q, y, k_ii or ONE, 0 * smoothing)
    },
    "rho complemented": {"bias": lambda k_ii, smoothing: 1 - bias(k_ii, smoothing)},
    "radius 1": {"radius": lambda problem: ONE},
}

PROPOSITION_10 = stated("Proposition 10", draw=_draw, check=check_identity, says=SAYS, wrong=WRONG)

NUMERICALLY = stated(
    "Proposition 10, by CVXPY", draw=_draw, check=check_numerically, says=SAYS, wrong=WRONG
)
