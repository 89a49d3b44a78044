"""The greedy inference: equations (4) and (5), algorithm 1."""

from collections.abc import Callable, Sequence
from fractions import Fraction
from itertools import accumulate, combinations, pairwise
from operator import gt, lt
from typing import Any

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import (
    ZERO,
    Labels,
    ap_loss,
    delta,
    draw_lists,
    draw_samples,
    interleavings,
    joint_feature,
    levels_of,
    maximisers,
    objective,
    pairs_turned,
    precisions,
    slack,
    strict_rankings,
    term,
    truth,
    weak_rankings,
)
from verification.paper_statements._ranking import average_precision as precision_of
from verification.paper_statements._ranking import joint_feature as score_of
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
from verification.paper_statements.mohapatra_2014.losses import hinge, lists

# ==========================================================================================
# Equation (4), loss-augmented inference: tied ranks, a linear program, the count form, its cuts.
# ==========================================================================================

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


CUT = stated("Equation (4), cut", draw=_draw_cut, check=_check_cut)


# ==========================================================================================
# Equation (5) as a number to compute: its two forms, rounding, and a closed form of its sums.
# ==========================================================================================

# ------------------------------------------------------------------------ as gains of a ranking


def _check_gain(
    trial: Trial,
    *,
    s: Vector,
    t: Vector,
    counts: tuple[int, ...],
    gain: Callable[[int, Vector, Vector], list[Fraction]],
) -> None:
    p, n = len(s), len(t)
    ranks = [p + 1 - sum(c >= j for c in counts) for j in range(1, n + 1)]
    total = sum((gain(j, s, t)[i - 1] for j, i in enumerate(ranks, 1)), ZERO)
    value = objective(counts, s, t)
    trial.exactly(total == value, "the gains add up to another value", total=total, value=value)


def _draw_ranking(rng: Any) -> Inputs:
    given = draw_lists(rng)
    counts = sorted(int(v) for v in rng.integers(0, len(given["t"]) + 1, len(given["s"])))
    return {**given, "counts": tuple(counts)}


GAIN = stated(
    "Equation (5)",
    draw=_draw_ranking,
    check=_check_gain,
    says={"gain": delta},
    wrong={
        "j + 1 for j": {"gain": lambda j, s, t: delta(j + 1, s, [t[0], *t])},
        "sum from i + 1": {"gain": lambda j, s, t: [*delta(j, s, t)[1:], ZERO]},
        "score without 2": {
            "gain": lambda j, s, t: delta(j, [v / 2 for v in s], [v / 2 for v in t])
        },
    },
)

# -------------------------------------------------------------------------- two forms


def loss_of_precision(j: int, k: int) -> Fraction:
    """j/(j+k) - (j-1)/(j+k-1)."""
    return Fraction(j, j + k) - Fraction(j - 1, j + k - 1)


def product(j: int, k: int) -> Fraction:
    """k/((j+k)(j+k-1))."""
    return Fraction(k, (j + k) * (j + k - 1))


def _check_forms(trial: Trial, *, j: int, k: int, form: Callable[[int, int], Fraction]) -> None:
    # What (5) is for: the precision that positive k loses when a j-th negative comes above it.
    lost = Fraction(k, k + j - 1) - Fraction(k, k + j)
    trial.exactly(loss_of_precision(j, k) == lost, "not the loss of precision", lost=lost)
    trial.exactly(form(j, k) == lost, "another value", value=form(j, k), lost=lost)


FORMS = stated(
    "Equation (5), precision lost",
    draw=lambda rng: {"j": int(rng.integers(1, 10**6)), "k": int(rng.integers(1, 10**4))},
    check=_check_forms,
    says={"form": product},
    wrong={
        "j for k": {"form": lambda j, k: Fraction(j, (j + k) * (j + k - 1))},
        "j+k+1 for j+k-1": {"form": lambda j, k: Fraction(k, (j + k) * (j + k + 1))},
        "1/P k/(j+k)": {"form": lambda j, k: Fraction(k, j + k)},
    },
)

# --------------------------------------------------------------------------------- with rounding

#: (j, k) as arrays of one entry -> the value in the arithmetic of these
Formula = Callable[[Any, Any], Any]


def differences(j: Any, k: Any) -> Any:
    """As printed."""
    return j / (j + k) - (j - 1) / (j + k - 1)


def quotients(j: Any, k: Any) -> Any:
    """k/((j+k)(j+k-1)), two divisions."""
    return k / (j + k) / (j + k - 1)


def one_quotient(j: Any, k: Any) -> Any:
    """k/((j+k)(j+k-1)), the product first."""
    return k / ((j + k) * (j + k - 1))


def _check_rounded(
    trial: Trial, *, j: int, k: int, formulas: Sequence[Formula], kinds: Sequence[type], bits: int
) -> None:
    exact = product(j, k)
    for formula in formulas:
        for kind in kinds:
            value = Fraction(
                float(formula(np.array([j], dtype=kind), np.array([k], dtype=kind))[0])
            )
            error = abs(value - exact) / exact
            trial.exactly(
                error <= Fraction(8, 2**bits),
                "the relative error is larger than 8 units of rounding",
                value=float(value),
                error=float(error),
            )


def _draw_rounded(rng: Rng) -> Inputs:
    j = int(10 ** rng.uniform(0, 6.5))
    return {"j": j, "k": int(rng.integers(1, 301))}


MILLION = {"j": 10**6, "k": 1}

ROUNDED_PRINTED = stated(
    "Equation (5) in double precision",
    draw=_draw_rounded,
    check=_check_rounded,
    says={"formulas": (differences,), "kinds": (np.float64,), "bits": 53},
    right={"formulas": (quotients, one_quotient)},
)

SINGLE_PRINTED = ROUNDED_PRINTED.also(
    "Equation (5) in single precision",
    says={"kinds": (np.float32,), "bits": 24},
    right={"formulas": (quotients, one_quotient)},
)

ROUNDED_RIGHT = ROUNDED_PRINTED.corrected(
    "Equation (5), rounding, corrected",
    says={"kinds": (np.float64, np.int64)},
    wrong={
        "as printed": {"formulas": (differences,)},
        "32-bit integers": {"kinds": (np.int32,)},
        "single precision": {"kinds": (np.float32,)},
    },
)

# ------------------------------------------------------------------------------------ closed form


def harmonic(n: int) -> Fraction:
    """H_n."""
    return sum((Fraction(1, i) for i in range(1, n + 1)), ZERO)


def closed(j: int, i: int, p: int) -> Fraction:
    """H_(j+P-1) - H_(j+i-2) - j (1/(j+i-1) - 1/(j+P))."""
    return (
        harmonic(j + p - 1)
        - harmonic(j + i - 2)
        - j * (Fraction(1, j + i - 1) - Fraction(1, j + p))
    )


def _draw_sum(rng: Rng) -> Inputs:
    p = int(rng.integers(1, 13))
    return {"p": p, "i": int(rng.integers(1, p + 2)), "j": int(rng.integers(1, 20))}


def _check_sum(
    trial: Trial, *, p: int, i: int, j: int, total: Callable[[int, int, int], Fraction]
) -> None:
    value = sum((product(j, k) for k in range(i, p + 1)), ZERO)
    found = total(j, i, p)
    trial.exactly(value == found, "the sum is another", value=value, found=found)


CLOSED = stated(
    "Equation (5), sums in closed form",
    draw=_draw_sum,
    check=_check_sum,
    says={"total": closed},
    wrong={
        "without the last part": {
            "total": lambda j, i, p: harmonic(j + p - 1) - harmonic(j + i - 2)
        },
        "one place on": {"total": lambda j, i, p: closed(j, i + 1, p)},
    },
)


# ==========================================================================================
# Algorithm 1, the greedy: with the rank P+1 it is exact, as printed it is not.
# ==========================================================================================

#: delta_j(1..P+1) -> the rank that is chosen
Choice = Callable[[Sequence[Fraction]], int]


def best_up_to_p(values: Sequence[Fraction]) -> int:
    """Argmax over {1..P}."""
    return maximisers(values[:-1])[-1]


def largest(values: Sequence[Fraction]) -> int:
    """Largest argmax over {1..P+1}: as few inversions as possible."""
    return maximisers(values)[-1]


def smallest(values: Sequence[Fraction]) -> int:
    """Smallest argmax over {1..P+1}: as many inversions as possible."""
    return maximisers(values)[0]


def greedy(s: Vector, t: Vector, choice: Choice) -> list[int]:
    """Interleaving ranks of all negatives."""
    return [choice(delta(j, s, t)) for j in range(1, len(t) + 1)]


def _check(trial: Trial, *, s: Vector, t: Vector, choices: Sequence[Choice]) -> None:
    found = slack(s, t)
    for choice in choices:
        ranks = greedy(s, t, choice)
        value = pairs_turned(ranks, s, t)
        trial.exactly(
            value == found and ranks == sorted(ranks),
            "the ranks found are not those of a most violated ranking",
            ranks=ranks,
            objective=value,
            largest=found,
        )


PRINTED = stated(
    "Algorithm 1 as printed",
    draw=draw_lists,
    check=_check,
    says={"choices": (best_up_to_p,)},
    right={"choices": (largest,)},
)

RIGHT = PRINTED.corrected(
    "Algorithm 1 over {1..P+1}",
    says={"choices": (largest, smallest)},
    wrong={
        "as printed": {"choices": (best_up_to_p,)},
        "over {2..P+1}": {"choices": (lambda values: 1 + maximisers(values[1:])[-1],)},
        "argmin": {"choices": (lambda values: maximisers([-v for v in values])[-1],)},
        "the first rank with h < 0": {
            "choices": (
                lambda values: next(
                    (i for i in range(1, len(values)) if values[i - 1] < values[i]), len(values)
                ),
            )
        },
    },
)


def _check_all(trial: Trial, *, labels: Labels, scores: Vector, choice: Choice) -> None:
    at_truth = score_of(labels, truth(labels), scores)
    values = [
        (1 - precision_of([labels[i] for i in order]))
        + score_of(labels, levels_of(order), scores)
        - at_truth
        for order in strict_rankings(len(labels))
    ]
    s, t = lists(labels, scores)
    chosen = (choice(delta(j, s, t)) for j in range(1, len(t) + 1))
    value = sum((delta(j, s, t)[i - 1] for j, i in enumerate(chosen, 1)), ZERO)
    trial.exactly(
        value == max(values),
        "sum_j delta_j(opt_j) is not the largest objective",
        value=value,
        largest=max(values),
    )


EXACT = stated(
    "Algorithm 1, exactness",
    draw=draw_samples,
    check=_check_all,
    says={"choice": largest},
    wrong={"over {1..P}": {"choice": best_up_to_p}, "always P+1": {"choice": len}},
)
