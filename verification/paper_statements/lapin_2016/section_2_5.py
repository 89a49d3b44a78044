"""Section 2.5: which weights make a ranking loss convex; what the start of a descent decides."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Vector, add, dot, draw_vector, scale
from verification.paper_statements.lapin_2016 import stated
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


CONVEX = stated(
    "Section 2.5, ranking losses",
    draw=_draw,
    check=_check,
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
    witnesses=({"counts": [5, 3, 2], "first": 2}, {"counts": [5, 3, 2], "first": 1}),
)

INITIAL_RIGHT = INITIAL.corrected(
    wrong={
        "the least probable": {"best": lambda counts, first: counts[first] == min(counts)},
        "above 1/3": {"best": lambda counts, first: 3 * counts[first] > sum(counts)},
    }
)
