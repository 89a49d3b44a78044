"""Proposition 7: the conjugate of the softmax loss."""

from collections.abc import Callable
from fractions import Fraction

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._logs import Log, binary, entropy_term, log
from verification.paper_statements._rational import Vector
from verification.paper_statements._topk import ONE, ZERO
from verification.paper_statements.lapin_2016 import stated

#: v in R^m, y -> conjugate, None for +infinity
Conjugate = Callable[[Vector, int], Log | None]


def printed(v: Vector, y: int) -> Log | None:
    """Sum of v_j log v_j over j != y, plus (1 + v_y) log(1 + v_y)."""
    x = [v_j for j, v_j in enumerate(v) if j != y]
    return binary(x) if sum(v, ZERO) == 0 and min(x) >= 0 and sum(x, ZERO) <= 1 else None


def softmax(w: Vector, y: int) -> Log:
    """The loss at the scores log w."""
    return log(sum(w, ZERO)) - log(w[y])


def inner(v: Vector, w: Vector) -> Log:
    """<v, log w>."""
    total = Log()
    for v_j, w_j in zip(v, w, strict=True):
        total = total + (v_j * log(w_j) if v_j else Log())
    return total


def _draw(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 5))
    y = int(rng.integers(m))
    counts = [int(c) for c in rng.integers(0 if rng.random() < 0.3 else 1, 5, size=m)]
    counts[y] += int(rng.integers(0, 2))
    total = sum(counts) or 1
    v = [Fraction(c, total) for c in counts]
    v[y] -= 1 if sum(counts) else 0
    if rng.random() < 0.2:
        v[int(rng.integers(m))] += Fraction(int(rng.choice([-1, 1])), 3)
    w = [Fraction(int(c)) for c in rng.integers(1, 9, size=m)]
    return {"v": v, "w": w, "y": y}


def _check(trial: Trial, *, v: Vector, w: Vector, y: int, conjugate: Conjugate) -> None:
    value = conjugate(v, y)
    x = [v_j + int(j == y) for j, v_j in enumerate(v)]  # the target of the loss's gradient
    finite = sum(v, ZERO) == 0 and min(x) >= 0
    trial.exactly((value is not None) == finite, "the formula is finite elsewhere", formula=value)
    if finite:
        if value is None:
            return
        trial.exactly(
            inner(v, w) - softmax(w, y) <= value, "<v,u> - L(u) exceeds the formula", formula=value
        )
        # The supremum is approached at u = log x, with the zeros of x pushed to -infinity.
        small = Fraction(1, 2**200)
        near = [x_j if x_j else small for x_j in x]
        gap = value - (inner(v, near) - softmax(near, y))
        trial.exactly(gap <= Fraction(1, 10**30), "the supremum stays below", formula=value)
        return
    # Outside: along a direction of growth, <v,u> - L(u) exceeds every bound.
    total, low = sum(v, ZERO), x.index(min(x))

    def along(t: int) -> Vector:
        if total:
            return [Fraction(2) ** (t if total > 0 else -t)] * len(v)
        return [Fraction(1, 2**t) if j == low else ONE for j in range(len(v))]

    grown = [inner(v, along(t)) - softmax(along(t), y) for t in (40, 80)]
    trial.exactly(grown[0] + 4 < grown[1], "<v,u> - L(u) does not grow without bound")


PROPOSITION_7 = stated(
    "Proposition 7",
    draw=_draw,
    check=_check,
    says={"conjugate": printed},
    wrong={
        "without the term of y": {
            "conjugate": lambda v, y: (
                None
                if printed(v, y) is None
                else sum((entropy_term(v_j) for j, v_j in enumerate(v) if j != y), Log())
            )
        },
        "no condition on the sum": {
            "conjugate": lambda v, y: printed(
                [v_j if j != y else v_j - sum(v, ZERO) for j, v_j in enumerate(v)], y
            )
        },
        "top-2 simplex": {
            "conjugate": lambda v, y: (
                None if any(2 * v_j > -v[y] for j, v_j in enumerate(v) if j != y) else printed(v, y)
            )
        },
    },
)
