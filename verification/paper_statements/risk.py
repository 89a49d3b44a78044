"""Pointwise risks of piecewise linear losses: all their minimisers, by exact linear programs.

A loss of class y is a list of affine pieces (slope, offset) in the scores g of R^m, or in what these
are linear in, its value their maximum. The minimisers of the risk sum_y p_y L(y, g) are a polyhedron;
what holds for all of them, such as which classes they rank first, is decided by maximising linear
functions over it.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations

from verification.paper_statements._rational import (
    Matrix,
    Vector,
    dot,
    maximise,
    put,
)
from verification.paper_statements._topk import ONE, ZERO, indicator, pieces_alpha, pieces_beta, top
from verification.paper_statements._trial import Rng

#: (slope in R^m, offset)
Piece = tuple[Vector, Fraction]
#: (m, k, y) -> pieces of L(y, .)
Pieces = Callable[[int, int, int], list[Piece]]


def _of_scores(slopes: Matrix, y: int) -> list[Piece]:
    """Pieces in g of a loss of z_j = g_j - g_y + 1, from its slopes over the others."""
    return [(put(x, y, -sum(x, ZERO)), sum(x, ZERO)) for x in slopes]


def hinge_alpha_pieces(m: int, k: int, y: int) -> list[Piece]:
    """Pieces of the top-k hinge alpha."""
    return _of_scores(pieces_alpha(m - 1, k), y)


def hinge_beta_pieces(m: int, k: int, y: int) -> list[Piece]:
    """Pieces of the top-k hinge beta."""
    return _of_scores(pieces_beta(m - 1, k), y)


def hinge_printed_pieces(m: int, k: int, y: int) -> list[Piece]:
    """Pieces of the top-k hinge alpha as printed, summed over all m classes: z_y = 0 may be chosen."""
    chosen = [c for size in (k - 1, k) for c in combinations(range(m - 1), size)]
    slopes = [indicator(m - 1, c, Fraction(1, k)) for c in chosen]
    return _of_scores([[ZERO] * (m - 1), *slopes], y)


def hinge_consistent_pieces(m: int, k: int, y: int) -> list[Piece]:
    """Pieces of the consistent top-k hinge: max over sets A of classes of mean_A g + 1 - min{1, k/|A|}, less g_y.

    Uniform distributions p are the kinks of <g,p> - S_k(p) + 1 on the simplex, of which this is the largest value.
    """
    sizes = [1, *range(k + 1, m + 1)]  # a mean of 2 to k scores is below the largest
    return [
        (
            [v - int(j == y) for j, v in enumerate(indicator(m, chosen, Fraction(1, size)))],
            1 - min(ONE, Fraction(k, size)),
        )
        for size in sizes
        for chosen in combinations(range(m), size)
    ]


def value(pieces: list[Piece], g: Sequence[Fraction]) -> Fraction:
    """Largest piece at g."""
    return max(dot(slope, g) + offset for slope, offset in pieces)


def risk(p: Vector, loss: list[list[Piece]], g: Sequence[Fraction]) -> Fraction:
    """Expected loss of the scores g."""
    return sum((p_y * value(pieces, g) for p_y, pieces in zip(p, loss, strict=True)), ZERO)


@dataclass(frozen=True)
class Minimisers:
    """The polyhedron of all minimisers: one of them, and its defining inequalities around it."""

    least: Fraction
    g: Vector
    _rows: Matrix
    _room: Vector

    def largest(self, direction: Vector) -> Fraction | None:
        """Largest <direction, g> over all minimisers, None for +infinity."""
        extra = [ZERO] * (len(self._rows[0]) - len(direction))
        step = maximise([*direction, *extra], self._rows, self._room).value
        return None if step is None else dot(direction, self.g) + step

    def best_lead(self, directions: Matrix) -> Fraction:
        """Largest value of min over the directions of <direction, g>, cut off at 1."""
        start = min(ONE, *(dot(direction, self.g) for direction in directions))
        rows = [[*row, ZERO] for row in self._rows]
        extra = [ZERO] * (len(self._rows[0]) - len(self.g))
        rows += [[*(-v for v in direction), *extra, ONE] for direction in directions]
        room = [*self._room, *(dot(direction, self.g) - start for direction in directions)]
        last = [ZERO] * len(self._rows[0])
        rows, room = [*rows, [*last, ONE]], [*room, 1 - start]
        found = maximise([*last, ONE], rows, room).value
        if found is None:
            raise ArithmeticError("a lead is cut off at 1")
        return start + found


def minimisers(p: Vector, loss: list[list[Piece]]) -> Minimisers:
    """Minimisers of the risk, classes of probability 0 left out; each linear program is proved."""
    m, live = len(loss[0][0][0]), [y for y, p_y in enumerate(p) if p_y]
    start = {y: max(offset for _, offset in loss[y]) for y in live}

    def row(slope: Vector, y: int) -> Vector:  # <slope, g> - t_y
        return [*slope, *(-Fraction(int(y == other)) for other in live)]

    pieces = [(slope, offset, y) for y in live for slope, offset in loss[y]]
    rows = [row(slope, y) for slope, _, y in pieces]
    cost = [ZERO] * m + [-p[y] for y in live]
    found = maximise(cost, rows, [start[y] - offset for _, offset, y in pieces])
    if found.value is None:
        raise ArithmeticError("a risk of nonnegative losses cannot be unbounded")
    g = found.x[:m]
    values = {y: value(loss[y], g) for y in live}
    room = [values[y] - dot(slope, g) - offset for slope, offset, y in pieces]
    least = sum((p[y] * values[y] for y in live), ZERO)
    return Minimisers(least, g, [*rows, [-v for v in cost]], [*room, ZERO])


def gap(m: int, i: int, j: int) -> Vector:
    """The direction g_i - g_j."""
    return [Fraction(int(c == i) - int(c == j)) for c in range(m)]


def constant_only(found: Minimisers) -> bool:
    """Whether every minimiser scores all classes alike."""
    m = len(found.g)
    return all(found.largest(gap(m, i, j)) == 0 for i in range(m) for j in range(m) if i != j)


# ------------------------------------------------------------------------ what calibration asks


def guesses(g: Sequence[Fraction], k: int) -> list[tuple[int, ...]]:
    """Sets of k guesses that the scores allow; several of them if the k-th place is tied."""
    m = len(g)
    return [
        chosen
        for chosen in combinations(range(m), k)
        if min(g[i] for i in chosen) >= max((g[j] for j in range(m) if j not in chosen), default=0)
    ]


def optimal(g: Sequence[Fraction], p: Vector, k: int) -> bool:
    """Whether all those sets have the largest probability: optimal however ties are broken."""
    return all(sum((p[i] for i in chosen), ZERO) == top(p, k) for chosen in guesses(g, k))


def leads(p: Vector, k: int) -> list[tuple[int, int]]:
    """Pairs (i, j), i one of the k most probable classes, j not; these must be unique."""
    order = sorted(range(len(p)), key=lambda y: -p[y])
    if p[order[k - 1]] == p[order[k]]:
        raise ValueError("the k most probable classes are not unique")
    return [(i, j) for i in order[:k] for j in order[k:]]


def wrong_pair(found: Minimisers, p: Vector, k: int) -> tuple[int, int] | None:
    """Classes (i, j), p_i > p_j, where some minimiser has g_i <= g_j and guesses j without i.

    None if every minimiser is top-k Bayes optimal: with p_[k] > p_[k+1] a wrong guess is the same
    as g_i <= g_j for some i among the k most probable classes and j not.
    """
    for i, j in leads(p, k):
        ahead = found.largest(gap(len(p), j, i))
        if ahead is None or ahead >= 0:
            return i, j
    return None


def all_err(found: Minimisers, p: Vector, k: int) -> bool:
    """Whether every minimiser has g_i <= g_j for some such pair."""
    return found.best_lead([gap(len(p), i, j) for i, j in leads(p, k)]) <= 0


def draw_probabilities(
    rng: Rng, m: int, k: int | None = None, least: int = 1, largest: int = 9
) -> Vector:
    """Random rational probabilities; with k, the k most probable classes are unique."""
    while True:
        counts = [int(v) for v in rng.integers(least, largest + 1, size=m)]
        ordered = sorted(counts, reverse=True)
        if sum(counts) and (k is None or ordered[k - 1] > ordered[k]):
            return [Fraction(v, sum(counts)) for v in counts]


def partitions(total: int, parts: int, largest: int | None = None) -> list[tuple[int, ...]]:
    """All ways to write `total` as a sum of positive integers in decreasing order."""
    if parts == 1:
        return [(total,)] if 1 <= total <= (largest or total) else []
    most = min(total - parts + 1, largest or total)
    return [
        (first, *rest)
        for first in range(most, 0, -1)
        for rest in partitions(total - first, parts - 1, first)
    ]
