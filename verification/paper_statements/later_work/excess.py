"""What softmax's excess risk over its least says of the top-k error, over all functions."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._logs import Log, entropy_term, log
from verification.paper_statements._rational import Vector
from verification.paper_statements._topk import ONE, ZERO, top
from verification.paper_statements.later_work import stated
from verification.paper_statements.risk import draw_probabilities, guesses


def _draw(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 6))
    p = draw_probabilities(rng, m)
    w = [Fraction(int(v)) for v in rng.integers(1, 10, size=m)]
    if rng.random() < 0.5:  # two classes tied that are not in p, all else as in p: nearly attained
        i, j = (int(v) for v in rng.choice(m, 2, replace=False))
        w = [(p[i] + p[j]) / 2 if y in (i, j) else v for y, v in enumerate(p)]
    return {"p": p, "w": w, "k": int(rng.integers(1, m))}


def excess(p: Vector, w: Vector) -> Log:
    """Softmax risk at the scores log w less the least one: sum of p log(p/q), q = w / sum w."""
    total = Log()
    for v, u in zip(p, w, strict=True):
        total = total + v * log(v * sum(w, ZERO) / u)
    return total


def lost(p: Vector, w: Vector, k: int) -> Fraction:
    """Largest excess error of the guesses that the scores allow."""
    return top(p, k) - min(sum((p[y] for y in s), ZERO) for s in guesses(w, k))


def binary(d: Fraction) -> Log:
    """((1 + d) log(1 + d) + (1 - d) log(1 - d)) / 2, which is d^2/2 or more."""
    return Fraction(1, 2) * (entropy_term(1 + d) + entropy_term(1 - d))


def _check(
    trial: Trial, *, p: Vector, w: Vector, k: int, bound: Callable[[Fraction], Log]
) -> None:
    d = lost(p, w, k)
    trial.exactly(bound(d) <= excess(p, w), "more is lost than the excess allows", lost=d)
    trial.exactly(d * d / 2 <= binary(d), "below the square", lost=d)


SOFTMAX = stated(
    "Softmax, excess risk and error",
    draw=_draw,
    check=_check,
    says={"bound": binary},
    wrong={
        "twice as much": {"bound": lambda d: 2 * binary(d)},
        "the square": {"bound": lambda d: Log(d * d)},
        "d log(1 + d)": {"bound": lambda d: d * log(1 + d)},
    },
    witnesses=({"p": [Fraction(3, 4), Fraction(1, 4)], "w": [ONE, ONE], "k": 1},),
)
