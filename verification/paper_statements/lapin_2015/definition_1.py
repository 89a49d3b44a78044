"""Definition 1 and figure 2: the top-k simplex and its vertices."""

from collections.abc import Callable
from fractions import Fraction
from math import comb

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Matrix, Vector, scale, vertices
from verification.paper_statements._topk import (
    alpha_halfspaces,
    beta_halfspaces,
    inside,
    pieces_alpha,
    pieces_beta,
)
from verification.paper_statements.lapin_2015 import stated


def _draw(rng: Rng) -> Inputs:
    d = int(rng.integers(1, 6))
    return {
        "d": d,
        "k": int(rng.integers(1, min(d, 4) + 2)),
        "r": Fraction(int(rng.integers(1, 5)), 2),
    }


def _check(
    trial: Trial,
    *,
    d: int,
    k: int,
    r: Fraction,
    halfspaces: Callable[[int, int, Fraction], tuple[Matrix, Vector]],
    corners: Callable[[int, int], Matrix],
    count: Callable[[int, int], int],
) -> None:
    found = vertices(*halfspaces(d, k, r))
    trial.exactly(
        found == {tuple(scale(r, corner)) for corner in corners(d, k)},
        "the vertices are others",
        vertices=found,
    )
    trial.exactly(
        len(found) == count(d, k), "the number of vertices is another one", number=len(found)
    )
    simplex = alpha_halfspaces(d, 1, r)
    trial.exactly(
        all(inside(corner, simplex) for corner in found), "the set leaves the standard simplex"
    )
    if k == 1:
        trial.exactly(found == vertices(*simplex), "k = 1 is not the standard simplex")


DEFINITION_1 = stated(
    "Definition 1",
    draw=_draw,
    check=_check,
    says={
        "halfspaces": alpha_halfspaces,
        "corners": pieces_alpha,
        "count": lambda d, k: comb(d, k) + 1,
    },
    wrong={
        "beta set": {"halfspaces": beta_halfspaces},
        "vertices of the beta set": {"corners": pieces_beta},
        "0 not counted": {"count": comb},
    },
)
