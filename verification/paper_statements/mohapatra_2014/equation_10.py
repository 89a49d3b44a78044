"""Problem (10), the approximation: its strict constraints, its missing bias, and what xi bounds."""

from collections.abc import Callable
from fractions import Fraction
from operator import ge, gt

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import ONE, ZERO, Labels, slack
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
from verification.paper_statements.mohapatra_2014.equation_3 import lists, worst_loss

# -------------------------------------------------------------------------- strict constraints


def objective(w: Fraction, c: Fraction, pair: Fraction | None) -> Fraction:
    """(10) in one dimension; X_d is empty or one positive that lies `pair` above one negative."""
    loss = ZERO if pair is None else max(ZERO, Fraction(1, 2) - 2 * w * pair)
    return w**2 / 2 + c * loss


def least(c: Fraction, pair: Fraction | None, bound: Fraction) -> Fraction:
    """Minimiser of the strictly convex objective over w >= bound."""
    candidates = [bound, ZERO]
    if pair:
        candidates += [2 * c * pair, 1 / (4 * pair)]
    return min((w for w in candidates if w >= bound), key=lambda w: objective(w, c, pair))


def _draw_line(rng: Rng) -> Inputs:
    return {
        "easy": [Fraction(int(v), 2) for v in rng.integers(1, 9, int(rng.integers(1, 4)))],
        "pair": None if rng.random() < 0.5 else Fraction(int(rng.integers(-4, 5)), 4),
        "c": Fraction(int(rng.integers(1, 9)), 2),
    }


def _check_attained(
    trial: Trial,
    *,
    easy: Vector,
    pair: Fraction | None,
    c: Fraction,
    relation: Relation,
    rhs: Fraction,
) -> None:
    """`easy` holds y_i x_i > 0; the closed problem's minimiser is unique, so it decides."""
    bound = ONE / min(easy)
    w = least(c, pair, bound)
    near = [w + step for step in (Fraction(1, 64), Fraction(-1, 64)) if w + step >= bound]
    if any(objective(v, c, pair) <= objective(w, c, pair) for v in near):
        raise ArithmeticError("the minimiser of the closed problem is another")
    trial.exactly(
        all(relation(v * w, rhs) for v in easy),
        "the infimum is at a point that the constraints exclude: it is not attained",
        w=w,
        infimum=objective(w, c, pair),
    )
    step = Fraction(1, 2**20)
    rise = objective(w + step, c, pair) - objective(w, c, pair)
    trial.exactly(
        all(v * (w + step) > rhs for v in easy)
        and rise <= step * (w + 1 + 2 * c * abs(pair or ZERO)),
        "points inside of the strict constraints do not come near to that value",
        rise=rise,
    )


STRICT_PRINTED = stated(
    "Problem (10), minimum",
    draw=_draw_line,
    check=_check_attained,
    says={"relation": gt, "rhs": ONE},
    right={"relation": ge},
    witnesses=({"easy": vector(1), "pair": None, "c": ONE},),
)

STRICT_RIGHT = STRICT_PRINTED.corrected(
    wrong={"as printed": {"relation": gt}, ">= 2": {"rhs": Fraction(2)}}
)

# ------------------------------------------------------------------------------------- the bias


def separable(points: list[Vector], labels: Labels, bias: bool) -> bool:
    """Whether y_i (w'x_i + b) >= 1 has a solution; b = 0 without a bias."""
    rows: Matrix = []
    for x, label in zip(points, labels, strict=True):
        y = 1 if label else -1
        rows.append([*(-y * v for v in x), Fraction(-y * bias), ONE])
    size = len(points[0])
    cap = [*([ZERO] * (size + 1)), ONE]
    # The largest margin u <= 1 is 1 or 0: any positive one can be scaled.
    best = maximise(cap, [*rows, cap], [*([ZERO] * len(rows)), ONE])
    return best.value == 1


def _draw_easy(rng: Rng) -> Inputs:
    """A linear classifier with bias and samples that it classifies with y f >= 1."""
    w0, b0 = draw_vector(rng, 2, 2, 1), Fraction(int(rng.integers(-3, 4)))
    points = [draw_vector(rng, 2, 3, 1) for _ in range(14)]
    values = [dot(w0, x) + b0 for x in points]
    easy = [(x, int(v > 0)) for x, v in zip(points, values, strict=True) if abs(v) >= 1]
    easy = easy[:7] or [(vector(1, 0), 1)]
    return {"points": [x for x, _ in easy], "labels": tuple(label for _, label in easy)}


def _check_feasible(trial: Trial, *, points: list[Vector], labels: Labels, bias: bool) -> None:
    trial.exactly(
        separable(points, labels, bias),
        "no w satisfies the easy constraints, though a linear classifier has y f >= 1 there",
    )


BIAS_PRINTED = stated(
    "Problem (10), feasibility",
    draw=_draw_easy,
    check=_check_feasible,
    says={"bias": False},
    right={"bias": True},
    witnesses=({"points": [vector(3), vector(1)], "labels": (1, 0)},),
)

BIAS_RIGHT = BIAS_PRINTED.corrected(wrong={"no bias": {"bias": False}})

# ------------------------------------------------------------------------------- what xi bounds


def _draw_split(rng: Rng) -> Inputs:
    """Scores of all samples, the easy ones with y f >= 1, the hard ones anything."""
    n = int(rng.integers(2, 7))
    labels = (1, 0, *(int(v) for v in rng.integers(0, 2, n)))
    hard = (True, True, *(bool(v) for v in rng.integers(0, 2, n)))
    drawn = draw_vector(rng, n + 2, 6, 1)
    scores = [
        v if is_hard else (1 if label else -1) * (1 + abs(v) / 4)
        for v, label, is_hard in zip(drawn, labels, hard, strict=True)
    ]
    return {"labels": labels, "scores": scores, "hard": hard}


#: (labels, hard) -> the samples whose AP loss xi is said to bound
Which = Callable[[tuple[int, ...], tuple[bool, ...]], list[int]]


def every(labels: Labels, hard: tuple[bool, ...]) -> list[int]:
    """All samples."""
    return list(range(len(labels)))


def difficult(labels: Labels, hard: tuple[bool, ...]) -> list[int]:
    """X_d."""
    return [i for i, is_hard in enumerate(hard) if is_hard]


def part(labels: Labels, scores: Vector, samples: list[int]) -> tuple[Vector, Vector]:
    """Scores of these positives and of these negatives, descending."""
    return lists(tuple(labels[i] for i in samples), [scores[i] for i in samples])


def _check_bound(
    trial: Trial, *, labels: Labels, scores: Vector, hard: tuple[bool, ...], which: Which
) -> None:
    if any((1 if labels[i] else -1) * scores[i] < 1 for i in easy_ones(labels, hard)):
        raise ArithmeticError("an easy constraint is violated")
    xi = slack(*part(labels, scores, difficult(labels, hard)))
    loss = worst_loss(*part(labels, scores, which(labels, hard)))
    trial.exactly(loss <= xi, "the AP loss is larger than xi", xi=xi, loss=loss)


BOUND_PRINTED = stated(
    "Problem (10), bound",
    draw=_draw_split,
    check=_check_bound,
    says={"which": every},
    right={"which": difficult},
    witnesses=(
        {"labels": (1, 0, 1), "scores": vector(10, 5, 2), "hard": (True, True, False)},
        {
            "labels": (1, 0, 1, 0),
            "scores": vector(10, 5, 2, -2),
            "hard": (True, True, False, False),
        },
    ),
)


def _check_both(
    trial: Trial,
    *,
    labels: Labels,
    scores: Vector,
    hard: tuple[bool, ...],
    which: Which,
    apart: Which,
) -> None:
    _check_bound(trial, labels=labels, scores=scores, hard=hard, which=which)
    s, t = part(labels, scores, apart(labels, hard))
    trial.exactly(
        not s or not t or worst_loss(s, t) == 0, "easy samples are not ranked right", scores=(s, t)
    )


def easy_ones(labels: Labels, hard: tuple[bool, ...]) -> list[int]:
    """X_e."""
    return [i for i, is_hard in enumerate(hard) if not is_hard]


BOUND_RIGHT = stated(
    "Problem (10), bound, corrected",
    draw=_draw_split,
    check=_check_both,
    says={"which": difficult, "apart": easy_ones},
    wrong={
        "all samples": {"which": every},
        "the easy ones with a hard one": {
            "apart": lambda labels, hard: [1, *easy_ones(labels, hard)]
        },
    },
)
