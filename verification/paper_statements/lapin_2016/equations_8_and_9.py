"""Equations (8) and (9): the two top-k simplices beside each other."""

from collections.abc import Callable
from fractions import Fraction
from math import comb

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Matrix, Vector, vertices
from verification.paper_statements._topk import alpha_halfspaces, beta_halfspaces, inside
from verification.paper_statements.lapin_2016 import stated

Halfspaces = Callable[[int, int, Fraction], tuple[Matrix, Vector]]


def _draw(rng: Rng) -> Inputs:
    d = int(rng.integers(1, 5))
    return {"d": d, "k": int(rng.integers(1, d + 1)), "r": Fraction(int(rng.integers(1, 5)), 2)}


def _check(
    trial: Trial,
    *,
    d: int,
    k: int,
    r: Fraction,
    alpha: Halfspaces,
    beta: Halfspaces,
    count: Callable[[int, int], int],
) -> None:
    small, large = vertices(*alpha(d, k, r)), vertices(*beta(d, k, r))
    trial.exactly(all(inside(x, beta(d, k, r)) for x in small), "alpha is not inside beta")
    trial.exactly(all(inside(x, alpha_halfspaces(d, 1, r)) for x in large), "outside the simplex")
    trial.exactly((small == large) == (k == 1), "equal for k > 1, or different for k = 1")
    trial.exactly(len(large) == count(d, k), "another number of vertices", number=len(large))


SETS = stated(
    "Equations (8) and (9)",
    draw=_draw,
    check=_check,
    says={
        "alpha": alpha_halfspaces,
        "beta": beta_halfspaces,
        "count": lambda d, k: sum(comb(d, j) for j in range(k + 1)),
    },
    wrong={
        "exchanged": {"alpha": beta_halfspaces, "beta": alpha_halfspaces},
        "vertices of alpha": {"count": lambda d, k: comb(d, k) + 1},
    },
)
