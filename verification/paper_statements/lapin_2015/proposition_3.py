"""Proposition 3: compatibility of the top-k hinge with the true class; where it fails and why."""

from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._gap import Pieces
from verification.paper_statements._rational import (
    Matrix,
    Vector,
    dot,
    draw_vector,
    put,
    vector,
    without,
)
from verification.paper_statements._topk import (
    ONE,
    Formula,
    Loss,
    alpha_halfspaces,
    beta_halfspaces,
    conjugate,
    costs,
    draw_dual,
    hinge_alpha,
    linear_on,
    pieces_alpha,
    pieces_beta,
    top,
)
from verification.paper_statements.lapin_2015 import stated


def all_classes(m: int, k: int, y: int) -> Matrix:
    """Slopes of the top-k hinge (3): the sum runs over all m entries."""
    return pieces_alpha(m, k)


def other_classes(m: int, k: int, y: int) -> Matrix:
    """Slopes of the top-k hinge of the m - 1 other classes, 0 in the true one."""
    return [put(piece, y) for piece in pieces_alpha(m - 1, k)]


def _draw(rng: Rng, smallest: int = 1, largest: int = 4) -> Inputs:
    k = int(rng.integers(smallest, largest + 1))
    m = int(rng.integers(k + 1, 6))
    y = int(rng.integers(m))
    return {"y": y, "k": k, "v": put(draw_dual(rng, m - 1, k), y)}


def _check(trial: Trial, *, y: int, k: int, v: Vector, pieces: Pieces) -> None:
    """sup{<v,x> - phi(x) : x_y = 0} against phi*(v), both as linear programs."""
    m = len(v)
    slopes = pieces(m, k, y)
    offsets = [dot(slope, costs(m, y)) for slope in slopes]
    restricted = conjugate([without(slope, y) for slope in slopes], offsets, without(v, y))
    free = conjugate(slopes, offsets, v)
    trial.exactly(
        restricted == free,
        "the supremum over x_y = 0 is not the conjugate (None stands for +infinity)",
        restricted=restricted,
        conjugate=free,
    )


PRINTED = stated(
    "Proposition 3",
    draw=lambda rng: _draw(rng, smallest=2),
    check=_check,
    says={"pieces": all_classes},
    right={"pieces": other_classes},
    witnesses=({"y": 2, "k": 2, "v": vector("1/2", 0, 0)},),
)

SPECIAL_CASES = PRINTED.corrected(
    "Proposition 3, k = 1 and loss (5)",
    draw=_draw,
    says={"pieces": lambda m, k, y: pieces_beta(m, k)},
    wrong={"alpha in place of beta": {"pieces": all_classes}},
)


def _check_others(
    trial: Trial, *, y: int, k: int, v: Vector, pieces: Pieces, formula: Formula
) -> None:
    _check(trial, y=y, k=k, v=v, pieces=pieces)
    m = len(v)
    slopes = pieces(m, k, y)
    conjugated = conjugate(slopes, [dot(slope, costs(m, y)) for slope in slopes], v)
    ones = [ONE] * (m - 1)
    trial.exactly(
        conjugated == formula(without(v, y), ones, k),
        "the conjugate differs from the formula (None stands for +infinity)",
        from_definition=conjugated,
    )


OTHERS = stated(
    "Proposition 3, sum over the others",
    draw=_draw,
    check=_check_others,
    says={"pieces": other_classes, "formula": linear_on(alpha_halfspaces)},
    wrong={
        "sum over all classes": {"pieces": all_classes},
        "beta set": {"formula": linear_on(beta_halfspaces)},
    },
)


# ------------------------------------------------------------------ what the printed loss really is


def printed_domain(d: int, k: int) -> tuple[Matrix, Vector]:
    """(A, b) of {x >= 0, <1,x> <= 1, x_i <= 1/k, (k-1) x_i <= <1,x>}."""
    a, b = beta_halfspaces(d, k)
    shares = [[(k - 1) * Fraction(int(i == j)) - 1 for j in range(d)] for i in range(d)]
    return a + shares, b + [Fraction(0)] * d


def two_hinges(z: Vector, k: int) -> Fraction:
    """max{phi_k, (k-1)/k phi_(k-1)} of the other classes."""
    fewer = top(z, k - 1) / k if k > 1 else Fraction(0)
    return max(hinge_alpha(z, k), fewer)


def _draw_identity(rng: Rng) -> Inputs:
    given = _draw(rng)
    return {**given, "z": draw_vector(rng, len(given["v"]) - 1, spread=3)}


def _check_identity(
    trial: Trial, *, y: int, k: int, v: Vector, z: Vector, loss: Loss, formula: Formula
) -> None:
    printed = hinge_alpha(put(z, y), k)
    trial.exactly(printed == loss(z, k), "the loss is another one", printed=printed)
    m = len(v)
    slopes = [without(slope, y) for slope in all_classes(m, k, y)]
    ones = [ONE] * (m - 1)
    restricted = conjugate(slopes, [dot(slope, ones) for slope in slopes], without(v, y))
    trial.exactly(
        restricted == formula(without(v, y), ones, k),
        "the supremum over x_y = 0 differs from the formula (None stands for +infinity)",
        from_definition=restricted,
    )


PRINTED_LOSS = stated(
    "Equation (3), seen from the others",
    draw=_draw_identity,
    check=_check_identity,
    says={"loss": two_hinges, "formula": linear_on(printed_domain)},
    wrong={
        "top-k hinge of the others": {"loss": hinge_alpha},
        "top-k simplex": {"formula": linear_on(alpha_halfspaces)},
        "beta set": {"formula": linear_on(beta_halfspaces)},
    },
)
