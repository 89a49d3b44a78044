"""The objects of both papers in rational arithmetic: losses, sets, conjugates by linear programming.

Values and sets are written straight from their definitions, without any result of the papers.
A conjugate is computed from the loss alone: sup <v,x> - loss(x) is a linear program, because the
losses are maxima of finitely many affine functions ("pieces").
"""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import combinations
from typing import Any

from verification.paper_statements._rational import (
    Matrix,
    Numbers,
    Vector,
    add,
    dot,
    draw_mixture,
    draw_vector,
    maximise,
    scale,
)
from verification.paper_statements._trial import Inputs, Rng, Trial

#: (margins or scores, k) -> loss
Loss = Callable[[Vector, int], Fraction]
#: (b, costs, k) -> conjugate, None for +infinity
Formula = Callable[[Vector, Vector, int], Fraction | None]

ONE = Fraction(1)
ZERO = Fraction(0)


def top(z: Sequence[Fraction], k: int) -> Fraction:
    """Sum of the k largest entries, S_k(z)."""
    return sum(sorted(z, reverse=True)[:k], ZERO)


def kth(z: Sequence[Fraction], k: int) -> Fraction:
    """The k-th largest entry."""
    return sorted(z, reverse=True)[k - 1]


def hinge_alpha(z: Sequence[Fraction], k: int) -> Fraction:
    """max{0, S_k(z)/k}, over exactly the entries given."""
    return max(ZERO, top(z, k) / k)


def hinge_beta(z: Sequence[Fraction], k: int) -> Fraction:
    """S_k(max(z, 0))/k."""
    return top([max(ZERO, v) for v in z], k) / k


def costs(m: int, y: int) -> Vector:
    """Cost one for every class but the true one: 1 - e_y."""
    return [Fraction(int(j != y)) for j in range(m)]


def margins(scores: Sequence[Fraction], y: int) -> Vector:
    """Margin violations f_j - f_y + 1 of the m - 1 other classes, in class order."""
    return [f - scores[y] + 1 for j, f in enumerate(scores) if j != y]


# ------------------------------------------------------------------------------------ polyhedra


def indicator(d: int, support: Sequence[int], value: Fraction) -> Vector:
    """Vector of length d that is `value` on the support."""
    return [value if i in support else ZERO for i in range(d)]


def pieces_alpha(d: int, k: int) -> Matrix:
    """Slopes of the alpha hinge: 0 and 1_S/k for all k-subsets S; none of the latter if k > d."""
    return [[ZERO] * d, *(indicator(d, s, Fraction(1, k)) for s in combinations(range(d), k))]


def pieces_beta(d: int, k: int) -> Matrix:
    """Slopes of the beta hinge: 1_S/k for all S with at most k members."""
    return [
        indicator(d, s, Fraction(1, k))
        for size in range(min(k, d) + 1)
        for s in combinations(range(d), size)
    ]


def cone_halfspaces(d: int, k: int) -> tuple[Matrix, Vector]:
    """(A, b) with {x : A x <= b} = {0 <= x_i <= <1,x>/k}."""
    lower = [[Fraction(-int(i == j)) for j in range(d)] for i in range(d)]
    upper = [[Fraction(int(i == j)) - Fraction(1, k) for j in range(d)] for i in range(d)]
    return lower + upper, [ZERO] * (2 * d)


def alpha_halfspaces(d: int, k: int, r: Fraction = ONE) -> tuple[Matrix, Vector]:
    """(A, b) of {0 <= x_i <= <1,x>/k, <1,x> <= r}."""
    a, b = cone_halfspaces(d, k)
    return [*a, [ONE] * d], [*b, r]


def beta_halfspaces(d: int, k: int, r: Fraction = ONE) -> tuple[Matrix, Vector]:
    """(A, b) of {0 <= x_i <= r/k, <1,x> <= r}."""
    lower = [[Fraction(-int(i == j)) for j in range(d)] for i in range(d)]
    upper = [scale(-1, row) for row in lower]
    return [*lower, *upper, [ONE] * d], [ZERO] * d + [r / k] * d + [r]


def inside(x: Numbers, halfspaces: tuple[Matrix, Vector]) -> bool:
    """Whether A x <= b."""
    return all(dot(row, x) <= rhs for row, rhs in zip(*halfspaces, strict=True))


# ----------------------------------------------------------------------------------- conjugates


def conjugate(pieces: Matrix, offsets: Vector, v: Vector) -> Fraction | None:
    """sup_x <v,x> - max_i (<p_i,x> + o_i) by an exact linear program; None for +infinity."""
    highest = max(offsets)
    optimum = maximise(
        [*v, Fraction(-1)],
        [[*piece, Fraction(-1)] for piece in pieces],
        [highest - offset for offset in offsets],
    )
    return None if optimum.value is None else optimum.value - highest


def linear_on(halfspaces: Callable[[int, int], tuple[Matrix, Vector]]) -> Formula:
    """b, c, k -> -<c,b> on a set, None (+infinity) outside of it."""

    def formula(b: Vector, c: Vector, k: int) -> Fraction | None:
        return -dot(c, b) if inside(b, halfspaces(len(b), k)) else None

    return formula


def check_pair(
    trial: Trial,
    *,
    a: Vector,
    b: Vector,
    c: Vector,
    k: int,
    value: Loss,
    pieces: Callable[[int, int], Matrix],
    domain: Callable[[int, int], tuple[Matrix, Vector]],
    formula: Formula,
) -> None:
    """Whether value(a + c) and formula(b) are conjugate: each follows from the other."""
    slopes = pieces(len(a), k)
    offsets = [dot(slope, c) for slope in slopes]
    loss = max(dot(slope, a) + offset for slope, offset in zip(slopes, offsets, strict=True))
    trial.exactly(value(add(a, c), k) == loss, "the loss is not the maximum of its affine pieces")
    conjugated = conjugate(slopes, offsets, b)
    printed = formula(b, c, k)
    trial.exactly(
        conjugated == printed,
        "the conjugate differs from the formula (None stands for +infinity)",
        from_definition=conjugated,
        from_formula=printed,
    )
    back = maximise(add(a, c), *domain(len(a), k)).value
    trial.exactly(
        back == loss,
        "the loss is not the support function of the domain at a + c",
        loss=loss,
        support=back,
    )


# -------------------------------------------------------------------------------------- drawing


def draw_dual(rng: Rng, d: int, k: int) -> Vector:
    """A point of the alpha set, of the beta set, or a little outside of them (radius 1)."""
    kind = int(rng.integers(4))
    points = pieces_alpha(d, k) if kind < 2 else pieces_beta(d, k)
    chosen = [points[int(i)] for i in rng.integers(len(points), size=3)]
    x = draw_mixture(rng, chosen)
    if kind == 3:
        x[int(rng.integers(d))] += Fraction(int(rng.choice([-1, 1])), 6)
    return x


def draw_pair(rng: Rng, largest: int = 5, k: int | None = None) -> Inputs:
    """Scores a and a dual point b in R^m, a true class, and k < m."""
    m = int(rng.integers(2 if k is None else max(2, k + 1), largest + 1))
    chosen = int(rng.integers(1, m)) if k is None else k
    y = int(rng.integers(m))
    return {"a": draw_vector(rng, m), "b": draw_dual(rng, m, chosen), "c": costs(m, y), "k": chosen}


def pair(
    value: Loss,
    pieces: Callable[[int, int], Matrix],
    domain: Callable[[int, int], tuple[Matrix, Vector]],
) -> dict[str, Any]:
    """What a statement says and how it is checked: value(a + c) and -<c,b> on the domain are conjugate."""
    says = {"value": value, "pieces": pieces, "domain": domain, "formula": linear_on(domain)}
    return {"check": check_pair, "says": says}
