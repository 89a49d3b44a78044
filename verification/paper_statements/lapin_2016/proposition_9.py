"""Proposition 9: calibration of the truncated top-k entropy, and its missing minimisers.

Scores are g = log w with positive integers w, so that the expected loss sum_y p_y log(ratio_y) is
the logarithm of a product of rational powers: with p_y = c_y/N, compare the products of
ratio_y ** c_y. No logarithm is ever rounded.
"""

from collections.abc import Callable
from fractions import Fraction
from itertools import combinations
from math import prod

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._topk import ZERO
from verification.paper_statements.lapin_2016 import stated
from verification.paper_statements.risk import optimal


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


def _draw(rng: Rng) -> Inputs:
    m = int(rng.integers(3, 6))
    return {
        "counts": [int(v) for v in rng.integers(1, 6, size=m)],
        "w": [Fraction(int(v)) for v in rng.integers(1, 9, size=m)],
        "k": int(rng.integers(2, m)),
    }


def _check_attained(
    trial: Trial, *, counts: list[int], w: list[Fraction], k: int, attained: bool
) -> None:
    """Doubling the largest weight lowers the expected loss: no w is a minimiser."""
    first = max(range(len(w)), key=lambda j: w[j])
    larger = [2 * v if j == first else v for j, v in enumerate(w)]
    before, after = likelihood(counts, w, k), likelihood(counts, larger, k)
    trial.exactly(
        (after < before) != attained, "the expected loss falls further", before=before, after=after
    )


ATTAINED = stated(
    "Proposition 9, minimisers in R^m",
    draw=_draw,
    check=_check_attained,
    says={"attained": True},
    right={"attained": False},
    witnesses=({"counts": [1, 1, 1], "w": [Fraction(1)] * 3, "k": 2},),
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
    draw=_draw,
    check=_check_extended,
    says={"leaders": best_classes},
    wrong={
        "least probable classes": {
            "leaders": lambda counts, size: best_classes([-c for c in counts], size)
        },
        "one class fewer": {"leaders": lambda counts, size: best_classes(counts, size - 1)},
    },
)
