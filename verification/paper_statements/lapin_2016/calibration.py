"""Calibration: lemma 2, propositions 1 to 4 and 9, and section 2.5."""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations, product
from math import prod

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._logs import Log, log
from verification.paper_statements._rational import (
    Function,
    Vector,
    add,
    dot,
    draw_vector,
    scale,
)
from verification.paper_statements._topk import ONE, ZERO
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.risk import (
    Piece,
    constant_only,
    draw_probabilities,
    gap,
    hinge_alpha_pieces,
    minimisers,
    optimal,
    risk,
)

# ==========================================================================================
# Lemma 2: one-vs-all scores that increase strictly with the probability are calibrated.
# ==========================================================================================


def _draw_lemma_2(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 7))
    return {
        "p": draw_probabilities(rng, m, least=0, largest=5),
        "steps": [Fraction(int(v), 3) for v in rng.integers(1, 4, size=m)],
        "k": int(rng.integers(1, m)),
    }


def increasing(p: Vector, steps: Vector) -> Vector:
    """A strictly increasing function of the probabilities: partial sums of positive steps."""
    height: dict[Fraction, Fraction] = {}
    total = Fraction(-2)
    for value, step in zip(sorted(set(p)), steps, strict=False):
        total += step
        height[value] = total
    return [height[v] for v in p]


def _levelled(p: Vector, steps: Vector) -> Vector:
    """Nondecreasing only: all below 1/2 alike."""
    return increasing([max(v, Fraction(1, 2)) for v in p], steps)


def _check_lemma_2(
    trial: Trial, *, p: Vector, steps: Vector, k: int, scores: Callable[[Vector, Vector], Vector]
) -> None:
    g = scores(p, steps)
    trial.exactly(optimal(g, p, k), "some guesses that the scores allow are not optimal", g=g)


LEMMA_2 = stated(
    "Lemma 2",
    draw=_draw_lemma_2,
    check=_check_lemma_2,
    says={"scores": increasing},
    wrong={
        "h nondecreasing only": {"scores": _levelled},
        "h decreasing": {"scores": lambda p, steps: [-v for v in increasing(p, steps)]},
    },
)


# ==========================================================================================
# Proposition 1: the one-vs-all hinge loss is not calibrated.
# ==========================================================================================

HALF = Fraction(1, 2)


def pieces(m: int, y: int) -> list[Piece]:
    """Pieces of the sum over classes of max(0, 1 + g_j), and max(0, 1 - g_y)."""
    signs = [-ONE if j == y else ONE for j in range(m)]
    return [
        ([sign * int(on) for sign, on in zip(signs, active, strict=True)], Fraction(sum(active)))
        for active in product((0, 1), repeat=m)
    ]


def _draw_binary(rng: Rng) -> Inputs:
    return {
        "p": Fraction(int(rng.integers(0, 13)), 12),
        "other": Fraction(int(rng.integers(-9, 10)), 4),
    }


def _check_binary(trial: Trial, *, p: Fraction, other: Fraction, bayes: Function) -> None:
    def risk(f: Fraction) -> Fraction:
        return p * max(ZERO, 1 - f) + (1 - p) * max(ZERO, 1 + f)

    trial.exactly(
        risk(bayes(p)) <= min(risk(f) for f in (other, -ONE, ZERO, ONE)),
        "another score has a lower risk",
        bayes=bayes(p),
    )


BINARY = stated(
    "Proposition 1, Bayes optimal function",
    draw=_draw_binary,
    check=_check_binary,
    says={"bayes": lambda p: Fraction(1 if p > HALF else -1)},
    wrong={
        "threshold 1/3": {"bayes": lambda p: Fraction(1 if p > Fraction(1, 3) else -1)},
        "2p - 1": {"bayes": lambda p: 2 * p - 1},
    },
)


def _draw_proposition_1(rng: Rng) -> Inputs:
    while True:
        p = draw_probabilities(rng, int(rng.integers(3, 5)))
        if rng.random() < 0.3:  # one class above 1/2
            first = int(rng.integers(len(p)))
            return {"p": [(v + int(j == first)) / 2 for j, v in enumerate(p)]}
        if max(p) < HALF:
            return {"p": p}


def _check_proposition_1(trial: Trial, *, p: Vector, bound: Fraction) -> None:
    if max(p) >= bound:
        trial.nothing_claimed()
        return
    found = minimisers(p, [pieces(len(p), y) for y in range(len(p))])
    trial.exactly(
        constant_only(found) and all(v == -1 for v in found.g),
        "some minimiser is not the constant -1",
        g=found.g,
    )
    if len(set(p)) > 1:
        order = sorted(range(len(p)), key=lambda y: -p[y])
        wrong = next(k for k in range(1, len(p)) if p[order[k - 1]] > p[order[k]])
        trial.exactly(not optimal(found.g, p, wrong), "the constant is optimal", k=wrong)


PROPOSITION_1 = stated("Proposition 1", draw=_draw_proposition_1, check=_check_proposition_1)


# ==========================================================================================
# Proposition 2: the one-vs-all logistic loss is calibrated.
# ==========================================================================================

#: p -> exp of the Bayes optimal score
Odds = Callable[[Fraction], Fraction]


def _draw_proposition_2(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 6))
    return {
        "p": draw_probabilities(rng, m),
        "other": Fraction(int(rng.integers(1, 30)), int(rng.integers(1, 9))),
        "k": int(rng.integers(1, m)),
    }


def _slope(p: Fraction, w: Fraction) -> Fraction:
    """Derivative in f of p log(1 + e^-f) + (1-p) log(1 + e^f) at f = log w."""
    return (1 - p) * w / (1 + w) - p / (1 + w)


def _check_proposition_2(trial: Trial, *, p: Vector, other: Fraction, k: int, odds: Odds) -> None:
    best = [odds(v) for v in p]
    for p_y, w in zip(p, best, strict=True):
        trial.exactly(_slope(p_y, w) == 0, "the risk has a slope at the stated minimiser", w=w)
        slope = _slope(p_y, other)
        trial.exactly(
            (slope > 0) == (other > p_y / (1 - p_y)) and (slope < 0) == (other < p_y / (1 - p_y)),
            "the slope vanishes or has the wrong sign elsewhere: the minimiser is not unique",
            slope=slope,
        )
    trial.exactly(optimal(best, p, k), "the minimiser is not top-k Bayes optimal", w=best)


PROPOSITION_2 = stated(
    "Proposition 2",
    draw=_draw_proposition_2,
    check=_check_proposition_2,
    says={"odds": lambda p: p / (1 - p)},
    wrong={
        "log p": {"odds": lambda p: p},
        "log((1-p)/p)": {"odds": lambda p: (1 - p) / p},
        "log(2p/(1-p))": {"odds": lambda p: 2 * p / (1 - p)},
    },
)


# ==========================================================================================
# Proposition 3: the multiclass hinge loss is not calibrated, for any k.
# ==========================================================================================


def _draw_proposition_3(rng: Rng) -> Inputs:
    p = draw_probabilities(rng, int(rng.integers(2, 5)), largest=6)
    first = int(rng.integers(len(p)))
    if rng.random() < 0.5:  # half of the instances have one class above 1/2
        p[first] += 1
        p = [v / 2 for v in p]
    return {"p": p}


def bayes(p: Vector) -> Vector:
    """The printed minimiser: a lead of 1 for a class with p_y >= 1/2, else a constant."""
    first = p.index(max(p))
    return [ONE if j == first and max(p) >= HALF else ZERO for j in range(len(p))]


def _check_risk(
    trial: Trial,
    *,
    p: Vector,
    bayes: Callable[[Vector], Vector],
    least: Callable[[Vector], Fraction],
) -> None:
    loss = [hinge_alpha_pieces(len(p), 1, y) for y in range(len(p))]
    found = minimisers(p, loss).least
    trial.exactly(least(p) == found, "the least risk differs", stated=least(p), least=found)
    trial.exactly(
        risk(p, loss, bayes(p)) == found, "the stated function is no minimiser", bayes=bayes(p)
    )


BAYES = stated(
    "Proposition 3, Bayes optimal function",
    draw=_draw_proposition_3,
    check=_check_risk,
    says={"bayes": bayes, "least": lambda p: min(ONE, 2 * (1 - max(p)))},
    wrong={
        "always a lead of 1": {"bayes": lambda p: [Fraction(int(v == max(p))) for v in p]},
        "a lead of 2": {"bayes": lambda p: [2 * v for v in bayes(p)]},
        "least risk 1 - max p": {"least": lambda p: 1 - max(p)},
    },
)


def _check_ties(trial: Trial, *, p: Vector, lead: Callable[[Vector], Fraction | None]) -> None:
    stated = lead(p)
    if stated is None:
        trial.nothing_claimed()
        return
    m = len(p)
    found = minimisers(p, [hinge_alpha_pieces(m, 1, y) for y in range(m)])
    first = p.index(max(p))
    for j in (c for c in range(m) if c != first):
        ahead = found.largest(gap(m, first, j)), found.largest(gap(m, j, first))
        trial.exactly(
            ahead == (stated, -stated), "some minimiser has another lead", j=j, between=ahead
        )


def _lead(p: Vector) -> Fraction | None:
    return None if max(p) == HALF else Fraction(int(max(p) > HALF))


PROPOSITION_3 = stated(
    "Proposition 3",
    draw=_draw_proposition_3,
    check=_check_ties,
    says={"lead": _lead},
    wrong={
        "constant for max p < 2/3": {"lead": lambda p: Fraction(int(max(p) > Fraction(2, 3)))},
        "at 1/2 too": {"lead": lambda p: Fraction(int(max(p) >= HALF))},
    },
)


# ==========================================================================================
# Proposition 4: the softmax loss is calibrated for all k, where its risk has a minimiser.
# ==========================================================================================


def softmax_risk(p: Vector, w: Vector) -> Log:
    """Expected softmax loss at the scores log w."""
    total = log(sum(w, ZERO))
    for p_y, w_y in zip(p, w, strict=True):
        total = total - (p_y * log(w_y) if p_y else Log())
    return total


def _draw_proposition_4(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 6))
    return {
        "p": draw_probabilities(rng, m),
        "other": [Fraction(int(v)) for v in rng.integers(1, 12, size=m)],
        "k": int(rng.integers(1, m)),
    }


def _check_proposition_4(
    trial: Trial, *, p: Vector, other: Vector, k: int, weights: Callable[[Vector], Vector]
) -> None:
    best = weights(p)
    same = all(v * p[0] == other[0] * p_y for v, p_y in zip(other, p, strict=True))
    least, elsewhere = softmax_risk(p, best), softmax_risk(p, other)
    trial.exactly(
        least <= elsewhere and (least == elsewhere) == same,
        "other scores are as good, or better",
        least=least,
        elsewhere=elsewhere,
    )
    trial.exactly(
        softmax_risk(p, [3 * v for v in best]) == least,
        "the minimiser is not free up to a constant",
    )
    trial.exactly(optimal(best, p, k), "the minimiser is not top-k Bayes optimal", w=best)


PROPOSITION_4 = stated(
    "Proposition 4",
    draw=_draw_proposition_4,
    check=_check_proposition_4,
    says={"weights": lambda p: p},
    wrong={
        "log(p/(1-p))": {"weights": lambda p: [v / (1 - v) for v in p]},
        "2 log p": {"weights": lambda p: [v * v for v in p]},
        "-log p": {"weights": lambda p: [1 / v for v in p]},
    },
)


def _draw_zero(rng: Rng) -> Inputs:
    given = _draw_proposition_4(rng)
    p, spread = given["p"], int(rng.integers(len(given["p"])))
    rest = 1 - p[spread]
    p = [ZERO if j == spread else v / rest for j, v in enumerate(p)]
    return {"p": p, "w": given["other"]}


def _check_attained_proposition_4(trial: Trial, *, p: Vector, w: Vector, attained: bool) -> None:
    """Halving the weight of a class of probability 0 lowers the risk."""
    lower = [v / 2 if p_y == 0 else v for p_y, v in zip(p, w, strict=True)]
    falls = softmax_risk(p, lower) < softmax_risk(p, w)
    trial.exactly(falls != attained, "the expected loss falls further", w=w)


ATTAINED_PROPOSITION_4 = stated(
    "Proposition 4, minimisers in R^m", draw=_draw_zero, check=_check_attained_proposition_4
)


# ==========================================================================================
# Proposition 9: calibration of the truncated top-k entropy, and its missing minimisers.
#
# Scores are g = log w with positive integers w, so that the expected loss sum_y p_y log(ratio_y) is
# the logarithm of a product of rational powers: with p_y = c_y/N, compare the products of
# ratio_y ** c_y. No logarithm is ever rounded.
# ==========================================================================================


def truncated(w: list[Fraction], y: int, k: int) -> Fraction:
    """exp(loss): 1 + the sum of w_j/w_y over the m - k smallest other classes."""
    others = sorted(v for j, v in enumerate(w) if j != y)
    return 1 + sum(others[: len(w) - k], ZERO) / w[y]


def likelihood(counts: list[int], w: list[Fraction], k: int) -> Fraction:
    """exp(N times the expected loss) at the scores log w."""
    return prod((truncated(w, y, k) ** c for y, c in enumerate(counts)), start=Fraction(1))


def limit(counts: list[int], infinite: tuple[int, ...]) -> Fraction:
    """Its infimum when the given classes go to infinity: the others at w_j proportional to p_j."""
    rest = [c for j, c in enumerate(counts) if j not in infinite]
    return prod((Fraction(sum(rest), c) ** c for c in rest), start=Fraction(1))


def _draw_proposition_9(rng: Rng) -> Inputs:
    m = int(rng.integers(3, 6))
    return {
        "counts": [int(v) for v in rng.integers(1, 6, size=m)],
        "w": [Fraction(int(v)) for v in rng.integers(1, 9, size=m)],
        "k": int(rng.integers(2, m)),
    }


def _check_attained_proposition_9(
    trial: Trial, *, counts: list[int], w: list[Fraction], k: int, attained: bool
) -> None:
    """Doubling the largest weight lowers the expected loss: no w is a minimiser."""
    first = max(range(len(w)), key=lambda j: w[j])
    larger = [2 * v if j == first else v for j, v in enumerate(w)]
    before, after = likelihood(counts, w, k), likelihood(counts, larger, k)
    trial.exactly(
        (after < before) != attained, "the expected loss falls further", before=before, after=after
    )


ATTAINED_PROPOSITION_9 = stated(
    "Proposition 9, minimisers in R^m",
    draw=_draw_proposition_9,
    check=_check_attained_proposition_9,
)


def best_classes(counts: list[int], size: int) -> tuple[int, ...]:
    """The most probable classes."""
    return tuple(sorted(range(len(counts)), key=lambda j: -counts[j])[:size])


def _check_extended(
    trial: Trial,
    *,
    counts: list[int],
    w: list[Fraction],
    k: int,
    leaders: Callable[[list[int], int], tuple[int, ...]],
) -> None:
    m = len(counts)
    least = limit(counts, leaders(counts, k - 1))
    largest = sorted(sorted(counts)[m - k + 1 :])
    for chosen in combinations(range(m), k - 1):
        value = limit(counts, chosen)
        most_probable = sorted(counts[j] for j in chosen) == largest
        trial.exactly(
            value == least if most_probable else value > least,
            "the lowest limits are not those of the k - 1 most probable classes",
            infinite=chosen,
            limit=value,
            least=least,
        )
    trial.exactly(likelihood(counts, w, k) > least, "a finite g is as low as the limit")
    # The limit is approached: leaders at 2^t, the others proportional to their probabilities.
    infinite = leaders(counts, k - 1)
    far = [Fraction(2**40) if j in infinite else Fraction(c) for j, c in enumerate(counts)]
    near = likelihood(counts, far, k)
    trial.exactly(
        least < near < least * (1 + Fraction(1, 10**6)), "the limit is not approached", near=near
    )
    p = [Fraction(c, sum(counts)) for c in counts]
    wrong = [s for s in range(k, m) if not optimal(far, p, s)]
    trial.exactly(not wrong, "a set of s guesses that these scores allow is not optimal", s=wrong)


EXTENDED = stated(
    "Proposition 9, in the extended sense",
    draw=_draw_proposition_9,
    check=_check_extended,
    says={"leaders": best_classes},
    wrong={
        "least probable classes": {
            "leaders": lambda counts, size: best_classes([-c for c in counts], size)
        },
        "one class fewer": {"leaders": lambda counts, size: best_classes(counts, size - 1)},
    },
)


# ==========================================================================================
# Section 2.5: which weights make a ranking loss convex; what the start of a descent decides.
# ==========================================================================================


def _draw_section_2_5(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 6))
    weights = sorted((Fraction(int(v)) for v in rng.integers(0, 4, size=m)), reverse=True)
    return {
        "weights": weights,
        "f": draw_vector(rng, m, spread=2),
        "g": draw_vector(rng, m, spread=2),
        "y": int(rng.integers(m)),
    }


def _check_section_2_5(
    trial: Trial,
    *,
    weights: Vector,
    f: Vector,
    g: Vector,
    y: int,
    order: Callable[[Vector], Vector],
) -> None:
    alpha = order(weights)

    def phi(point: Vector) -> Fraction:
        return dot(alpha, sorted(point, reverse=True)) / len(point) - point[y]

    middle = scale(Fraction(1, 2), add(f, g))
    trial.exactly(2 * phi(middle) <= phi(f) + phi(g), "not convex between f and g", alpha=alpha)


CONVEX = stated(
    "Section 2.5, ranking losses",
    draw=_draw_section_2_5,
    check=_check_section_2_5,
    says={"order": list},
    wrong={
        "non-decreasing": {"order": lambda alpha: alpha[::-1]},
        "the largest dropped": {"order": lambda alpha: [Fraction(0), *alpha[1:]]},
    },
)


# ------------------------------------------------------------------------------- initialisations


def _draw_start(rng: Rng) -> Inputs:
    return {"counts": [int(v) for v in rng.integers(1, 9, size=3)], "first": int(rng.integers(3))}


def tie(counts: list[int], other: int) -> Fraction:
    """exp(N times the least expected truncated top-2 entropy) where both classes but `other` lead.

    With its weight t <= 1 beside theirs: the least of (1 + 1/t)^c (1 + t)^(N - c), at t = p/(1 - p).
    """
    total, c = sum(counts), counts[other]
    t = min(Fraction(1), Fraction(c, total - c))
    return (1 + 1 / t) ** c * (1 + t) ** (total - c)


def _check_start(
    trial: Trial, *, counts: list[int], first: int, best: Callable[[list[int], int], bool]
) -> None:
    """Near the limit at an infinite score of `first`, every way out is uphill."""
    limits = [limit(counts, (j,)) for j in range(3)]
    out = min(tie(counts, j) for j in range(3) if j != first)
    trial.exactly(limits[first] < out, "a descent may leave the region", limits=limits, out=out)
    trial.exactly(
        (limits[first] == min(limits)) == best(counts, first),
        "a descent that starts with this class far ahead ends at its limit, not the least one",
        limits=limits,
        out=out,
    )


INITIAL = stated(
    "Section 2.5, initial points",
    draw=_draw_start,
    check=_check_start,
    says={"best": lambda counts, first: True},
    right={"best": lambda counts, first: counts[first] == max(counts)},
)

INITIAL_RIGHT = INITIAL.corrected(
    wrong={
        "the least probable": {"best": lambda counts, first: counts[first] == min(counts)},
        "above 1/3": {"best": lambda counts, first: 3 * counts[first] > sum(counts)},
    }
)
