"""Duals of (3) and (10), and the approximation of section 3.3."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations_with_replacement, product
from operator import ge, gt

import numpy as np

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._ranking import (
    ONE,
    ZERO,
    Labels,
    ap_loss,
    draw_samples,
    interleavings,
    score_change,
    slack,
)
from verification.paper_statements._rational import (
    Matrix,
    Relation,
    Vector,
    dot,
    draw_vector,
    draw_weights,
    maximise,
    vector,
)
from verification.paper_statements.mohapatra_2014 import stated
from verification.paper_statements.mohapatra_2014.losses import hinge, lists, worst_loss

# ==========================================================================================
# Problem (3) and its dual over the simplex of rankings, solved exactly in one dimension.
# ==========================================================================================

#: A ranking as a cut of one dimension: its loss, and the slope of its change of score in w.
Cut = tuple[Fraction, Fraction]
#: (loss, slope, C) of a mixture of rankings -> dual value
DualValue = Callable[[Fraction, Fraction, Fraction], Fraction]


def cuts(labels: Labels, x: Vector) -> list[Cut]:
    """All rankings that keep positives and negatives in the order of x, or in the reverse one."""
    found = set()
    for sign in (1, -1):
        s, t = lists(labels, [sign * v for v in x])
        rankings = interleavings(len(s), len(t))
        found |= {(ap_loss(counts), sign * score_change(counts, s, t)) for counts in rankings}
    return sorted(found)


def primal(labels: Labels, x: Vector, w: Fraction, c: Fraction) -> Fraction:
    """w^2/2 + C L(xw)."""
    return w**2 / 2 + c * hinge(labels, [v * w for v in x])


def dual(loss: Fraction, slope: Fraction, c: Fraction) -> Fraction:
    """C sum lambda Delta - C^2/2 (sum lambda g)^2."""
    return c * loss - (c * slope) ** 2 / 2


def _mixture(a: Cut, b: Cut, theta: Fraction) -> Cut:
    return a[0] + theta * (b[0] - a[0]), a[1] + theta * (b[1] - a[1])


def best_mixture(found: list[Cut], c: Fraction) -> Cut:
    """The mixture of two cuts with the largest dual value; two are enough in one dimension."""
    best = max(found, key=lambda cut: dual(cut[0], cut[1], c))
    for a, b in combinations_with_replacement(found, 2):
        if a[1] != b[1]:  # stationary point of the concave quadratic in theta
            theta = ((b[0] - a[0]) / (c * (b[1] - a[1])) - a[1]) / (b[1] - a[1])
            mixed = _mixture(a, b, min(max(theta, ZERO), Fraction(1)))
            best = max(best, mixed, key=lambda cut: dual(cut[0], cut[1], c))
    return best


def _draw_equation_3_dual(rng: Rng) -> Inputs:
    given = draw_samples(rng, most=5)
    found = cuts(given["labels"], given["scores"])
    return {
        "labels": given["labels"],
        "x": given["scores"],
        "c": Fraction(int(rng.integers(1, 40)), 4),
        "w": draw_vector(rng, 1, 3, 4)[0],
        "weights": draw_weights(rng, len(found)),
    }


def _check_equation_3_dual(
    trial: Trial,
    *,
    labels: Labels,
    x: Vector,
    c: Fraction,
    w: Fraction,
    weights: Vector,
    value: DualValue,
    sign: int,
) -> None:
    found = cuts(labels, x)
    mixed = np.array(weights) @ np.array(found)
    p, d = primal(labels, x, w, c), value(mixed[0], mixed[1], c)
    trial.exactly(d <= p, "a dual value is above a primal value", primal=p, dual=d)
    best = best_mixture(found, c)
    p, d = primal(labels, x, sign * c * best[1], c), value(best[0], best[1], c)
    trial.exactly(d == p, "the largest dual value is not the least primal value", primal=p, dual=d)


EQUATION_3_DUAL = stated(
    "Problem (3), dual",
    draw=_draw_equation_3_dual,
    check=_check_equation_3_dual,
    says={"value": dual, "sign": -1},
    wrong={
        "C for C^2": {"value": lambda loss, slope, c: c * loss - c * slope**2 / 2},
        "no half": {"value": lambda loss, slope, c: c * loss - (c * slope) ** 2},
        "w with the other sign": {"sign": 1},
        "loss without C": {"value": lambda loss, slope, c: loss - (c * slope) ** 2 / 2},
    },
)


# ==========================================================================================
# Problem (10), the approximation: its strict constraints, its missing bias, and what xi bounds.
# ==========================================================================================

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


def _draw_easy_equation_10(rng: Rng) -> Inputs:
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
    draw=_draw_easy_equation_10,
    check=_check_feasible,
    witnesses=({"points": [vector(3), vector(1)], "labels": (1, 0)},),
)

BIAS_RIGHT = BIAS_PRINTED.corrected()

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


# ==========================================================================================
# Problem (10) with >= and a free bias: its dual, solved exactly in one dimension.
# ==========================================================================================

#: (loss, slope of the mixture of rankings, sum mu_i y_i x_i, sum mu_i, C) -> dual value
EasyDualValue = Callable[[Fraction, Fraction, Fraction, Fraction, Fraction], Fraction]


def dual_value(
    loss: Fraction, slope: Fraction, easy: Fraction, total: Fraction, c: Fraction
) -> Fraction:
    """C sum lambda Delta + sum mu - 1/2 (sum mu_i y_i x_i - C sum lambda g)^2."""
    return c * loss + total - (easy - c * slope) ** 2 / 2


def _draw_equation_10_dual(rng: Rng) -> Inputs:
    given = draw_samples(rng, most=4)
    easy = draw_samples(rng, most=5)
    # Separable in one direction: the positives on one side of the negatives, 0 not in between.
    at, sign = Fraction(int(rng.integers(-4, 5))), int(rng.choice([-1, 1]))
    y = [1 if label else -1 for label in easy["labels"]]
    x = [at + sign * v * (Fraction(1, 4) + abs(s)) for v, s in zip(y, easy["scores"], strict=True)]
    found = cuts(given["labels"], given["scores"])
    return {
        "labels": given["labels"],
        "x": given["scores"],
        "easy": list(zip(y, x, strict=True)),
        "c": Fraction(int(rng.integers(1, 40)), 4),
        "weights": draw_weights(rng, len(found)),
        "masses": [Fraction(int(v), 2) for v in rng.integers(0, 5, 3)],
        "beyond": Fraction(int(rng.integers(0, 9)), 4),
    }


def closest(easy: list[tuple[int, Fraction]]) -> Fraction:
    """Signed difference of a closest positive and negative of the easy samples."""
    gaps = [a - b for (y, a), (z, b) in product(easy, easy) if y > z]
    return min(gaps, key=abs)


def _check_equation_10_dual(
    trial: Trial,
    *,
    labels: Labels,
    x: Vector,
    easy: list[tuple[int, Fraction]],
    c: Fraction,
    weights: Vector,
    masses: Vector,
    beyond: Fraction,
    value: EasyDualValue,
    balanced: bool,
) -> None:
    found = cuts(labels, x)
    gap = closest(easy)
    least = 2 / gap  # w'(x_+ - x_-) >= 2 of the closest pair; some bias then serves all
    # Any feasible pair: w beyond its bound, mu on pairs, or anywhere if it need not be balanced.
    w = least * (1 + beyond)
    mixed = np.array(weights) @ np.array(found)
    positives = [v for y, v in easy if y > 0]
    negatives = [v for y, v in easy if y < 0]
    pairs = list(zip(masses, positives, negatives, strict=False))
    moved = sum((m * (a - b) for m, a, b in pairs), ZERO)
    total = 2 * sum((m for m, *_ in pairs), ZERO)
    if not balanced:
        # One sample alone: as far as it goes against w if the bias is what makes it feasible.
        y, v = min(easy, key=lambda sample: sample[0] * sample[1] * gap)
        against = max(ZERO, -y * v / gap)
        mass = Fraction(10**6) if y * v * gap <= 0 else 1 / v**2
        moved, total = mass * (y * v + against * gap), mass * (1 + 2 * against)
    p, d = primal(labels, x, w, c), value(mixed[0], mixed[1], moved, total, c)
    trial.exactly(d <= p, "a dual value is above a primal value", primal=p, dual=d)
    p, d = _solution(labels, x, found, gap, c, value)
    trial.exactly(d == p, "the largest dual value is not the least primal value", primal=p, dual=d)


def _solution(
    labels: Labels,
    x: Vector,
    found: list[Cut],
    gap: Fraction,
    c: Fraction,
    value: EasyDualValue,
) -> tuple[Fraction, Fraction]:
    """Primal and dual value at the exact dual solution: mu = 0, or mu on the closest pair."""
    free = best_mixture(found, c)
    w = -c * free[1]
    if w * gap >= 2:
        return primal(labels, x, w, c), value(free[0], free[1], ZERO, ZERO, c)
    # The constraint holds with equality. D is then linear in lambda: one cut is enough, of those
    # that are active at w the one with the largest mu.
    w = 2 / gap
    best = max(found, key=lambda cut: (cut[0] + w * cut[1], cut[1] * gap))
    mass = (w + c * best[1]) / gap
    if mass < 0:
        raise ArithmeticError("no multiplier of the easy constraints is feasible")
    return primal(labels, x, w, c), value(best[0], best[1], mass * gap, 2 * mass, c)


EQUATION_10_DUAL = stated(
    "Problem (10), dual, corrected",
    draw=_draw_equation_10_dual,
    check=_check_equation_10_dual,
    says={"value": dual_value, "balanced": True},
    wrong={
        "mu not balanced": {"balanced": False},
        "loss without C": {
            "value": lambda loss, slope, easy, total, c: dual_value(
                loss, c * slope, easy, total, ONE
            )
        },
        "the other sign of mu": {
            "value": lambda loss, slope, easy, total, c: dual_value(loss, slope, -easy, total, c)
        },
    },
)


# ==========================================================================================
# Section 3.3: what a 0-1 loss of 0 says of the AP, and which easy samples are kept.
# ==========================================================================================


def signed(labels: Labels, scores: Vector) -> Vector:
    """y_i f(x_i)."""
    return [v if label else -v for label, v in zip(labels, scores, strict=True)]


def _draw_separable(rng: Rng) -> Inputs:
    """Scores of which many are of the right sign, some of them 0."""
    given = draw_samples(rng, most=9)
    scores = [
        abs(v) * (1 if label else -1) if rng.random() < 0.9 else v
        for label, v in zip(given["labels"], given["scores"], strict=True)
    ]
    return {"labels": given["labels"], "scores": scores}


#: (labels, scores) -> whether the condition, or the conclusion, holds
Test = Callable[[tuple[int, ...], Vector], bool]


def all_right(labels: Labels, scores: Vector) -> bool:
    """0-1 loss of 0: y f > 0 for all samples."""
    return min(signed(labels, scores)) > 0


def with_margin(labels: Labels, scores: Vector) -> bool:
    """Hinge loss of 0: y f >= 1 for all samples."""
    return min(signed(labels, scores)) >= 1


def ranked_right(labels: Labels, scores: Vector) -> bool:
    """AP loss of 0, ties in their worst order."""
    return worst_loss(*lists(labels, scores)) == 0


def no_slack(labels: Labels, scores: Vector) -> bool:
    """The loss of problem (3) is 0."""
    return slack(*lists(labels, scores)) == 0


def _check_zero(trial: Trial, *, labels: Labels, scores: Vector, given: Test, then: Test) -> None:
    trial.exactly(
        then(labels, scores) or not given(labels, scores),
        "the one loss is 0, the other is not",
        slack=slack(*lists(labels, scores)),
    )


ZERO_ONE = stated(
    "Section 3.3, 0-1 loss 0",
    draw=_draw_separable,
    check=_check_zero,
    says={"given": all_right, "then": ranked_right},
    wrong={
        "y f >= 0 counts as right": {
            "given": lambda labels, scores: min(signed(labels, scores)) >= 0
        },
        "the other way round": {"given": ranked_right, "then": all_right},
        "one error": {
            "given": lambda labels, scores: sum(v <= 0 for v in signed(labels, scores)) <= 1
        },
    },
)


def _draw_margins(rng: Rng) -> Inputs:
    """One positive and many negatives, all with y f >= 1."""
    labels = (1, *([0] * int(rng.integers(1, 13))))
    margins = [1 + Fraction(int(v), 4) for v in rng.integers(0, 3, len(labels))]
    return {"labels": labels, "scores": signed(labels, margins)}


SURROGATES = stated(
    "Section 3.3, hinge loss 0",
    draw=_draw_margins,
    check=_check_zero,
    says={"given": with_margin, "then": no_slack},
    right={"then": ranked_right},
    witnesses=({"labels": (1, *([0] * 9)), "scores": vector(1, *([-1] * 9))},),
)

# ----------------------------------------------------------------------- which easy samples stay


#: (labels, scores) -> by which the easy samples are ordered, largest first
Order = Callable[[tuple[int, ...], Vector], Vector]


def by_score(labels: Labels, scores: Vector) -> Vector:
    """Scores themselves."""
    return scores


def _draw_easy_section_3_3(rng: Rng) -> Inputs:
    given = draw_samples(rng, most=9)
    margins = [1 + Fraction(int(v), 4) for v in rng.integers(0, 9, len(given["labels"]))]
    return {
        "labels": given["labels"],
        "scores": signed(given["labels"], margins),
        "fraction": Fraction(int(rng.integers(1, 5)), 4),
    }


def _check_kept(
    trial: Trial, *, labels: Labels, scores: Vector, fraction: Fraction, order: Order
) -> None:
    key = order(labels, scores)
    count = int(fraction * len(labels))
    ranked = sorted(range(len(labels)), key=lambda i: -key[i])
    kept, left = ranked[:count], ranked[count:]
    margins = signed(labels, scores)
    trial.exactly(
        not kept or not left or min(margins[i] for i in kept) >= max(margins[i] for i in left),
        "a sample is dropped whose margin is larger than that of one kept",
        kept=sorted(kept),
        margins=margins,
    )


EASY_PRINTED = stated(
    "Section 3.3, top k% of the easy samples",
    draw=_draw_easy_section_3_3,
    check=_check_kept,
    says={"order": by_score},
    right={"order": signed},
    witnesses=(
        {"labels": (1, 0), "scores": vector(1, -5), "fraction": Fraction(1, 2)},
        {"labels": (1, 1, 0, 0), "scores": vector(2, 1, -5, -9), "fraction": Fraction(1, 2)},
    ),
)
