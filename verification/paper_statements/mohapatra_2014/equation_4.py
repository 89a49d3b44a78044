"""Equation (4), loss-augmented inference: tied ranks, a linear program, the count form, its cuts."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate, combinations, pairwise
from operator import gt, lt

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import (
    ZERO,
    Labels,
    ap_loss,
    draw_lists,
    draw_samples,
    interleavings,
    joint_feature,
    objective,
    precisions,
    slack,
    term,
    truth,
    weak_rankings,
)
from verification.paper_statements._rational import (
    Matrix,
    Relation,
    Vector,
    dot,
    draw_vector,
    maximise,
    vector,
)
from verification.paper_statements.mohapatra_2014 import stated
from verification.paper_statements.mohapatra_2014.equation_3 import hinge

# ---------------------------------------------------------------------------------- tied ranks


def _mean(values: Sequence[Fraction]) -> Fraction:
    return sum(values, ZERO) / len(values)


def _check_weak(
    trial: Trial,
    *,
    labels: Labels,
    scores: Vector,
    rules: Sequence[Callable[[Sequence[Fraction]], Fraction]],
) -> None:
    """`rules` make one AP of those of all orders of a tie."""
    at_truth = joint_feature(labels, truth(labels), scores)
    found = hinge(labels, scores)
    for rule in rules:
        most, levels = max(
            (1 - rule(precisions(labels, levels)) + joint_feature(labels, levels, scores), levels)
            for levels in weak_rankings(len(labels))
        )
        trial.exactly(
            most - at_truth == found,
            "a ranking with tied ranks has a larger objective than every strict one",
            levels=levels,
            objective=most - at_truth,
            strict=found,
        )


TIED_PRINTED = stated(
    "Equation (4), tied ranks",
    draw=lambda rng: draw_samples(rng, most=4, fine=4),
    check=_check_weak,
    says={"rules": (min,)},
    right={"rules": (_mean,)},
    witnesses=({"labels": (1, 0), "scores": vector("1/4", 0)},),
)

TIED_RIGHT = TIED_PRINTED.corrected(
    says={"rules": (_mean, max)}, wrong={"the worst": {"rules": (min,)}}
)

# ---------------------------------------------------------------------------- as a linear program


def column_constraints(p: int) -> Matrix:
    """Left-hand sides of -x_1 <= 0, x_k <= x_(k+1), x_P <= 1: one negative's column."""
    unit = [[Fraction(i == k) for i in range(p)] for k in range(p)]
    rows = [[-v for v in unit[0]]]
    rows += [[a - b for a, b in zip(unit[k], unit[k + 1], strict=True)] for k in range(p - 1)]
    return [*rows, unit[-1]]


def free_constraints(p: int) -> Matrix:
    """Left-hand sides of -x_k <= 0 and x_k <= 1 alone, without the chain."""
    unit = [[Fraction(i == k) for i in range(p)] for k in range(p)]
    return [*([-v for v in row] for row in unit), *unit]


def determinant(a: Matrix) -> Fraction:
    """By expansion along the first row."""
    if not a:
        return Fraction(1)
    total = ZERO
    for j, v in enumerate(a[0]):
        if v:
            minor = [[*row[:j], *row[j + 1 :]] for row in a[1:]]
            total += (-1) ** j * v * determinant(minor)
    return total


def minors(a: Matrix) -> set[Fraction]:
    """Determinants of all square submatrices."""
    return {
        determinant([[a[i][j] for j in columns] for i in rows])
        for size in range(1, min(len(a), len(a[0])) + 1)
        for rows in combinations(range(len(a)), size)
        for columns in combinations(range(len(a[0])), size)
    }


def _check_program(
    trial: Trial,
    *,
    s: Vector,
    t: Vector,
    constraints: Callable[[int], Matrix],
    coefficient: Callable[[int, int, Vector, Vector], Fraction],
) -> None:
    p, n = len(s), len(t)
    a = constraints(p)
    b = [Fraction(int(sum(row) > 0)) for row in a]
    value, whole = ZERO, True
    for j in range(1, n + 1):
        best = maximise([coefficient(k, j, s, t) for k in range(1, p + 1)], a, b)
        if best.value is None:
            raise ArithmeticError("the program is bounded by its constraints")
        value += best.value
        whole = whole and all(v in (0, 1) for v in best.x)
    trial.exactly(whole, "a vertex is not integral")
    trial.exactly(minors(a) <= {-1, 0, 1}, "not totally unimodular", minors=minors(a))
    found = slack(s, t)
    trial.exactly(value == found, "the program has another value", value=value, slack=found)


PROGRAM = stated(
    "Equation (4), linear program",
    draw=lambda rng: draw_lists(rng, 4, 4),
    check=_check_program,
    says={"constraints": column_constraints, "coefficient": term},
    wrong={
        "no chain": {"constraints": free_constraints},
        "chain reversed": {"constraints": lambda p: [row[::-1] for row in column_constraints(p)]},
        "score without 2": {
            "coefficient": lambda k, j, s, t: term(k, j, [v / 2 for v in s], [v / 2 for v in t])
        },
    },
)

# -------------------------------------------------------------------------------- the count form


def gains(s: Vector, t: Vector) -> list[list[Fraction]]:
    """f_k(c) = c/(P(k+c)) - 2/(PN) sum_(j<=c) (s_k - t_j), c = 0..N."""
    p, n = len(s), len(t)
    return [
        [
            Fraction(c, p * (k + c)) - Fraction(2, p * n) * sum((u - v for v in t[:c]), ZERO)
            for c in range(n + 1)
        ]
        for k, u in enumerate(s, 1)
    ]


def ordered_maximum(table: list[list[Fraction]]) -> Fraction:
    """Largest sum of f_k(c_k) over c_1 <= ... <= c_P, by dynamic programming."""
    best = [ZERO] * len(table[0])
    for row in table:
        best = [v + most for v, most in zip(row, accumulate(best, max), strict=True)]
    return max(best)


def free_maximum(table: list[list[Fraction]]) -> Fraction:
    """Each count by itself."""
    return sum((max(row) for row in table), ZERO)


def _check_counts(
    trial: Trial,
    *,
    s: Vector,
    t: Vector,
    maximum: Callable[[list[list[Fraction]]], Fraction],
    bend: Relation,
) -> None:
    table = gains(s, t)
    for k, row in enumerate(table, 1):
        steps = [after - before for before, after in pairwise(row)]
        trial.exactly(
            steps == [term(k, j, s, t) for j in range(1, len(t) + 1)], "f_k does not step by h_k(j)"
        )
        trial.exactly(all(bend(a, b) for a, b in pairwise(steps)), "f_k bends", k=k, steps=steps)
    value, found = maximum(table), slack(s, t)
    trial.exactly(value == found, "the counts have another maximum", value=value, slack=found)


COUNTS = stated(
    "Equation (4), count form",
    draw=draw_lists,
    check=_check_counts,
    says={"maximum": ordered_maximum, "bend": gt},
    wrong={
        "counts in any order": {"maximum": free_maximum},
        "counts reversed": {"maximum": lambda table: ordered_maximum(table[::-1])},
        "convex": {"bend": lt},
    },
)

# -------------------------------------------------------------------------------- subgradients


def coefficients(counts: Sequence[int], n: int) -> tuple[Vector, Vector]:
    """-2 c_k/(PN) for the positives and 2 t_j/(PN) for the negatives, both sorted."""
    p = len(counts)
    below = [sum(c >= j for c in counts) for j in range(1, n + 1)]
    return [Fraction(-2 * c, p * n) for c in counts], [Fraction(2 * v, p * n) for v in below]


def _draw_cut(rng: Rng) -> Inputs:
    given = draw_lists(rng, 3, 4)
    s, t = (draw_vector(rng, len(given[name]), 2, 2) for name in ("s", "t"))
    return {**given, "other": (s, t)}


def _check_cut(
    trial: Trial, *, s: Vector, t: Vector, other: tuple[Vector, Vector], factor: Fraction
) -> None:
    n = len(t)
    counts = max(interleavings(len(s), n), key=lambda c: objective(c, s, t))
    above, below = coefficients(counts, n)
    value = ap_loss(counts) + factor * (dot(above, s) + dot(below, t))
    trial.exactly(value == slack(s, t), "the cut is not exact where it was made", value=value)
    cut = ap_loss(counts) + factor * (dot(above, other[0]) + dot(below, other[1]))
    found = slack(*(sorted(v, reverse=True) for v in other))
    trial.exactly(cut <= found, "the cut is above L at other scores", cut=cut, slack=found)


CUT = stated(
    "Equation (4), cut",
    draw=_draw_cut,
    check=_check_cut,
    says={"factor": Fraction(1)},
    wrong={"half of g": {"factor": Fraction(1, 2)}, "-g": {"factor": Fraction(-1)}},
)
