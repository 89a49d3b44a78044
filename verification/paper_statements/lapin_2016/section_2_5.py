"""Section 2.5: which weights make a ranking loss convex; what the start of a descent decides."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Claim, Inputs, Rng, Trial
from verification.paper_statements._rational import Vector, add, dot, draw_vector, scale
from verification.paper_statements.lapin_2016.proposition_9 import limit


def _draw(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 6))
    weights = sorted((Fraction(int(v)) for v in rng.integers(0, 4, size=m)), reverse=True)
    return {
        "weights": weights,
        "f": draw_vector(rng, m, spread=2),
        "g": draw_vector(rng, m, spread=2),
        "y": int(rng.integers(m)),
    }


def _check(
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


CONVEX = Claim(
    number="Section 2.5, ranking losses",
    section="2.5",
    statement="(1/m) sum_j alpha_j f_(j-th largest) - f_y is convex if alpha is non-increasing",
    method="rational midpoints of random scores",
    draw=_draw,
    check=_check,
    says={"order": list},
    wrong={
        "non-decreasing": {"order": lambda alpha: alpha[::-1]},
        "the largest dropped": {"order": lambda alpha: [Fraction(0), *alpha[1:]]},
    },
    instances=400,
    note="The second wrong variant is the idea of the truncated loss, which is not convex.",
    voice="asserted",
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


INITIAL = Claim(
    number="Section 2.5, initial points",
    section="2.5",
    statement="descent on the expected truncated top-k entropy finds solutions of the same quality "
    "from all initial points",
    method="m = 3, k = 2: rational limits, and the least risk where the lead changes",
    expected="refuted",
    draw=_draw_start,
    check=_check_start,
    says={"best": lambda counts, first: True},
    right={"best": lambda counts, first: counts[first] == max(counts)},
    witnesses=({"counts": [5, 3, 2], "first": 2}, {"counts": [5, 3, 2], "first": 1}),
    instances=300,
    note="Reported of experiments, as what 'seems'. At p = (5, 3, 2)/10 the limit with the third class "
    "ahead is exp(N risk) = 198.8, 28.9 with the first; no tie costs less than 449.",
    voice="implied",
    quote="“mildly nonconvex” as the same-quality solutions are obtained from different initializations",
    witness="words",
)

INITIAL_RIGHT = INITIAL.corrected(
    "for m = 3, k = 2 and p > 0 each class has initial points from which no continuous descent takes the lead "
    "from it; its limit is the least one exactly if it is a most probable class",
    wrong={
        "the least probable": {"best": lambda counts, first: counts[first] == min(counts)},
        "above 1/3": {"best": lambda counts, first: 3 * counts[first] > sum(counts)},
    },
    note="So the start matters; the softmax solution, where the paper starts, has the most probable "
    "class ahead. Proof of the first part: the limit is the entropy of one class's indicator given "
    "another's, a tie costs at least that entropy without the condition.",
)
