"""Definition (1) and Lemma 1: the top-k error and its Bayes optimal classifiers."""

from collections.abc import Callable
from fractions import Fraction
from itertools import product

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Vector, vector, without
from verification.paper_statements._topk import ZERO, kth, top
from verification.paper_statements.lapin_2016 import stated

#: (scores, true class, k) -> whether it is an error
Error = Callable[[Vector, int, int], bool]
#: (scores, probabilities, k) -> whether the scores are said to be optimal
Optimal = Callable[[Vector, Vector, int], bool]


def error_printed(g: Vector, y: int, k: int) -> bool:
    """g_[k] > g_y."""
    return kth(g, k) > g[y]


def error_with_ties(g: Vector, y: int, k: int) -> bool:
    """At least k other classes reach the score of the true one."""
    return sum(v >= g[y] for v in without(g, y)) >= k


def expected_error(error: Error, g: Vector, p: Vector, k: int) -> Fraction:
    """Sum of the probabilities of the classes that would be errors."""
    return sum((p_y for y, p_y in enumerate(p) if error(g, y, k)), ZERO)


def _draw(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 5))
    raw = [int(v) for v in rng.integers(0, 5, size=m)]
    raw[int(rng.integers(m))] += 1
    return {
        "p": [Fraction(v, sum(raw)) for v in raw],
        "g": [Fraction(int(v)) for v in rng.integers(0, m, size=m)],
        "k": int(rng.integers(1, m)),
    }


def _check_least(trial: Trial, *, p: Vector, g: Vector, k: int, error: Error) -> None:
    """The least expected error over all score vectors; only the order of the scores matters."""
    m = len(p)
    everything = (vector(*scores) for scores in product(range(m), repeat=m))
    least = min(expected_error(error, scores, p, k) for scores in everything)
    trial.exactly(
        least == 1 - top(p, k),
        "the least expected error is not 1 - the sum of the k largest probabilities",
        least=least,
        stated=1 - top(p, k),
    )


LEAST_PRINTED = stated(
    "Lemma 1, least error with (1) as printed",
    draw=_draw,
    check=_check_least,
    says={"error": error_printed},
    right={"error": error_with_ties},
    witnesses=({"p": vector("1/2", "1/2"), "g": vector(0, 0), "k": 1},),
)

LEAST_RIGHT = LEAST_PRINTED.corrected(
    "Lemma 1, least error, corrected",
    wrong={
        "strict inequality": {"error": error_printed},
        "k + 1 guesses": {"error": lambda g, y, k: error_with_ties(g, y, k + 1)},
    },
)


def optimal_printed(g: Vector, p: Vector, k: int) -> bool:
    """{y : g_y >= g_[k]} lies in {y : p_y >= p_[k]}."""
    return all(p_y >= kth(p, k) for g_y, p_y in zip(g, p, strict=True) if g_y >= kth(g, k))


def optimal_listed(g: Vector, p: Vector, k: int) -> bool:
    """The same, as sets: the safe classes can be completed to k classes of largest probability."""
    safe = [p_y for y, p_y in enumerate(p) if not error_with_ties(g, y, k)]
    return sorted(safe, reverse=True) + [ZERO] * (k - len(safe)) == sorted(p, reverse=True)[:k]


def _check_optimal(trial: Trial, *, p: Vector, g: Vector, k: int, optimal: Optimal) -> None:
    error = expected_error(error_with_ties, g, p, k)
    trial.exactly(
        (error == 1 - top(p, k)) == optimal(g, p, k),
        "the scores are optimal and the condition are not equivalent",
        error=error,
        least=1 - top(p, k),
    )


OPTIMAL_PRINTED = stated(
    "Lemma 1, optimal classifiers",
    draw=_draw,
    check=_check_optimal,
    says={"optimal": optimal_printed},
    right={"optimal": optimal_listed},
    witnesses=({"p": vector("2/5", "3/10", "3/10"), "g": vector(0, 2, 1), "k": 2},),
)

OPTIMAL_RIGHT = OPTIMAL_PRINTED.corrected(
    wrong={
        "as printed": {"optimal": optimal_printed},
        "only the most probable class": {
            "optimal": lambda g, p, k: not error_with_ties(g, p.index(max(p)), k)
        },
    }
)
