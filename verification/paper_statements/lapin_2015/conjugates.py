"""The top-k simplex, and conjugates: definitions 1 and 2, lemmas 1 and 2, propositions 1 to 3."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, pairwise
from math import comb

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._gap import Pieces, of_differences
from verification.paper_statements._rational import (
    Matrix,
    Vector,
    dot,
    draw_mixture,
    draw_vector,
    put,
    scale,
    vertices,
    without,
)
from verification.paper_statements._topk import (
    ONE,
    Formula,
    Loss,
    alpha_halfspaces,
    beta_halfspaces,
    cone_halfspaces,
    conjugate,
    costs,
    draw_dual,
    draw_pair,
    hinge_alpha,
    hinge_beta,
    inside,
    linear_on,
    pair,
    pieces_alpha,
    pieces_beta,
    top,
)
from verification.paper_statements.lapin_2015 import stated

# ==========================================================================================
# Definition 1 and figure 2: the top-k simplex and its vertices.
# ==========================================================================================


def _draw_definition_1(rng: Rng) -> Inputs:
    d = int(rng.integers(1, 6))
    return {
        "d": d,
        "k": int(rng.integers(1, min(d, 4) + 2)),
        "r": Fraction(int(rng.integers(1, 5)), 2),
    }


def _check_definition_1(
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
    draw=_draw_definition_1,
    check=_check_definition_1,
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


# ==========================================================================================
# Lemma 1: the sum of the k largest entries as a minimum over a threshold.
# ==========================================================================================

Objective = Callable[[Vector, Fraction, int], Fraction]


def objective(h: Vector, t: Fraction, k: int) -> Fraction:
    """The printed objective kt + sum_j max(0, h_j - t)."""
    return k * t + sum((max(Fraction(0), v - t) for v in h), Fraction(0))


def _draw_lemma_1(rng: Rng) -> Inputs:
    m = int(rng.integers(1, 8))
    return {"h": draw_vector(rng, m), "k": int(rng.integers(1, m + 1))}


def _check_lemma_1(trial: Trial, *, h: Vector, k: int, objective: Objective) -> None:
    largest = max(sum(chosen, Fraction(0)) for chosen in combinations(h, k))
    knots = sorted(set(h))
    lowest = min(objective(h, t, k) for t in knots)
    trial.exactly(lowest == largest, "the minimum is not the sum of the k largest", minimum=lowest)
    # The objective is affine between knots and beyond them: one point of each piece settles it.
    between = [(low + high) / 2 for low, high in pairwise(knots)]
    probes = [knots[0] - 1, *between, knots[-1] + 1]
    trial.exactly(
        all(objective(h, t, k) >= lowest for t in probes), "a threshold off the knots is lower"
    )


LEMMA_1 = stated(
    "Lemma 1",
    draw=_draw_lemma_1,
    check=_check_lemma_1,
    says={"objective": objective},
    wrong={
        "k forgotten": {"objective": lambda h, t, k: objective(h, t, 1)},
        "one too many": {"objective": lambda h, t, k: objective(h, t, k + 1)},
        "no positive part": {"objective": lambda h, t, k: k * t + sum(v - t for v in h)},
    },
)


# ==========================================================================================
# Lemma 2: the conjugate of a loss of score differences.
# ==========================================================================================

ConjugateAt = Callable[[Matrix, Vector, Vector, int], Fraction | None]


def zeroed(u: Vector, j: int) -> Vector:
    """The vector with 0 at place j: u - u_j e_j."""
    return [*u[:j], Fraction(0), *u[j + 1 :]]


def _draw_lemma_2(rng: Rng) -> Inputs:
    m, count = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    j = int(rng.integers(m))
    free = [draw_vector(rng, m, spread=2) for _ in range(count)]
    # Each piece also without its slope in x_j: this makes the maximum j-compatible, because
    # a point of the domain stays in it, at no higher conjugate, when its entry j is dropped.
    pieces = free + [zeroed(piece, j) for piece in free]
    offsets = 2 * draw_vector(rng, count, spread=2)
    y = draw_mixture(rng, [zeroed(piece, j) for piece in pieces])
    y[j] = -sum(y, Fraction(0))
    if rng.random() < 0.4:
        y[int(rng.integers(m))] += Fraction(int(rng.choice([-1, 1])), 2)
    return {"pieces": pieces, "offsets": offsets, "j": j, "y": y}


def formula(pieces: Matrix, offsets: Vector, y: Vector, j: int) -> Fraction | None:
    """phi*(y - y_j e_j) if <1,y> = 0, +infinity otherwise."""
    return conjugate(pieces, offsets, zeroed(y, j)) if sum(y) == 0 else None


def _check_lemma_2(
    trial: Trial, *, pieces: Matrix, offsets: Vector, j: int, y: Vector, formula: ConjugateAt
) -> None:
    left = conjugate(of_differences(pieces, j), offsets, y)
    right = formula(pieces, offsets, y, j)
    trial.exactly(
        left == right,
        "the conjugate of phi(x - x_j 1) differs from the formula (None stands for +infinity)",
        from_definition=left,
        from_formula=right,
    )


LEMMA_2 = stated(
    "Lemma 2",
    draw=_draw_lemma_2,
    check=_check_lemma_2,
    says={"formula": formula},
    wrong={
        "entry j kept": {"formula": lambda p, o, y, j: conjugate(p, o, y) if sum(y) == 0 else None},
        "no condition on the sum": {"formula": lambda p, o, y, j: conjugate(p, o, zeroed(y, j))},
    },
)


# ==========================================================================================
# Definition 2: the condition under which Lemma 2 gives the conjugate, and no other.
# ==========================================================================================

Compatible = Callable[[Matrix, Vector, Vector, int], bool]


def _draw_definition_2(rng: Rng) -> Inputs:
    m, count = int(rng.integers(2, 5)), int(rng.integers(1, 4))
    j = int(rng.integers(m))
    pieces = [draw_vector(rng, m, spread=2) for _ in range(count)]
    if rng.random() < 0.5:
        pieces += [zeroed(piece, j) for piece in pieces]  # compatible: see Lemma 2
    y = draw_mixture(rng, [zeroed(piece, j) for piece in pieces])
    return {"pieces": pieces, "offsets": draw_vector(rng, len(pieces), spread=2), "j": j, "y": y}


def compatible(pieces: Matrix, offsets: Vector, y: Vector, j: int) -> bool:
    """Whether sup <y,x> - phi(x) over x_j = 0 is phi*(y), at a y with y_j = 0."""
    # With x_j = 0 the slopes in x_j do not matter: they are as good as 0, and then x_j is free.
    restricted = conjugate([zeroed(piece, j) for piece in pieces], offsets, y)
    return restricted == conjugate(pieces, offsets, y)


def _check_definition_2(
    trial: Trial, *, pieces: Matrix, offsets: Vector, j: int, y: Vector, condition: Compatible
) -> None:
    balanced = [v - sum(y) * (i == j) for i, v in enumerate(y)]
    left = conjugate(of_differences(pieces, j), offsets, balanced)
    right = conjugate(pieces, offsets, y)
    trial.exactly(
        (left == right) == condition(pieces, offsets, y, j),
        "Lemma 2 holds without the condition, or fails with it",
        from_definition=left,
        from_formula=right,
    )


DEFINITION_2 = stated(
    "Definition 2",
    draw=_draw_definition_2,
    check=_check_definition_2,
    says={"condition": compatible},
    wrong={
        "always": {"condition": lambda pieces, offsets, y, j: True},
        "phi without a slope in x_j": {
            "condition": lambda pieces, offsets, y, j: all(p[j] == 0 for p in pieces)
        },
    },
)


# ==========================================================================================
# Proposition 1: the multiclass hinge loss of Crammer and Singer and its conjugate.
# ==========================================================================================

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


# ==========================================================================================
# Proposition 2: the top-k hinge loss as a function on R^m and its conjugate.
# ==========================================================================================

PROPOSITION_2 = stated(
    "Proposition 2",
    **pair(hinge_alpha, pieces_alpha, alpha_halfspaces),
    draw=draw_pair,
    wrong={
        "beta set": {"formula": linear_on(beta_halfspaces)},
        "cone, without the bound on the sum": {"formula": linear_on(cone_halfspaces)},
        "maximum over the beta set": {"domain": beta_halfspaces},
        "beta loss": {"value": hinge_beta},
    },
)


# ==========================================================================================
# Proposition 3: compatibility of the top-k hinge with the true class; where it fails and why.
# ==========================================================================================


def all_classes(m: int, k: int, y: int) -> Matrix:
    """Slopes of the top-k hinge (3): the sum runs over all m entries."""
    return pieces_alpha(m, k)


def other_classes(m: int, k: int, y: int) -> Matrix:
    """Slopes of the top-k hinge of the m - 1 other classes, 0 in the true one."""
    return [put(piece, y) for piece in pieces_alpha(m - 1, k)]


def _draw_proposition_3(rng: Rng, smallest: int = 1, largest: int = 4) -> Inputs:
    k = int(rng.integers(smallest, largest + 1))
    m = int(rng.integers(k + 1, 6))
    y = int(rng.integers(m))
    return {"y": y, "k": k, "v": put(draw_dual(rng, m - 1, k), y)}


def _check_proposition_3(trial: Trial, *, y: int, k: int, v: Vector, pieces: Pieces) -> None:
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
    draw=lambda rng: _draw_proposition_3(rng, smallest=2),
    check=_check_proposition_3,
    says={"pieces": all_classes},
    right={"pieces": other_classes},
)

SPECIAL_CASES = PRINTED.corrected(
    "Proposition 3, k = 1 and loss (5)",
    draw=_draw_proposition_3,
    says={"pieces": lambda m, k, y: pieces_beta(m, k)},
    wrong={"alpha in place of beta": {"pieces": all_classes}},
)


def _check_others(
    trial: Trial, *, y: int, k: int, v: Vector, pieces: Pieces, formula: Formula
) -> None:
    _check_proposition_3(trial, y=y, k=k, v=v, pieces=pieces)
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
    draw=_draw_proposition_3,
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
    given = _draw_proposition_3(rng)
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
