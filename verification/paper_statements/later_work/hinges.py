"""Where the hinges are right, at one p: the k-th hinge psi_k, alpha, beta, and two that always are.

Two of them are not convex. On scores whose k-th largest is that of class i and whose next is that of class j, the
others of a set T of guesses above and the rest below, they are: a linear program for each (T, i, j).
"""

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from itertools import combinations

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Vector, maximise
from verification.paper_statements._topk import ONE, ZERO, kth, top
from verification.paper_statements.later_work import stated
from verification.paper_statements.risk import (
    Minimisers,
    Pieces,
    all_err,
    draw_probabilities,
    gap,
    hinge_alpha_pieces,
    hinge_beta_pieces,
    hinge_consistent_pieces,
    minimisers,
    wrong_pair,
)

#: (whether y is among the guesses, class of the k-th largest score, of the next) -> the class that y has to beat by 1
Rival = Callable[[bool, int, int], int]


def kth_of_others(guessed: bool, i: int, j: int) -> int:
    """psi_k: the k-th largest score of the classes other than y."""
    return j if guessed else i


def next_of_all(guessed: bool, i: int, j: int) -> int:
    """The (k+1)-st largest score of all classes."""
    return j


def least(p: Vector, k: int, rival: Rival) -> dict[tuple[int, ...], Fraction]:
    """Least risk of max{0, 1 + g_rival - g_y} over the scores that allow a set of guesses, by set."""
    m, found = len(p), dict[tuple[int, ...], Fraction]()
    none = [ZERO] * m
    for guesses in combinations(range(m), k):
        outside = [j for j in range(m) if j not in guesses]
        values = []
        for i in guesses:
            for j in outside:
                order = [gap(m, i, other) for other in guesses] + [gap(m, j, i)]
                order += [gap(m, other, j) for other in outside]
                # t_y + 1 is the loss of class y: at least 0 and at least 1 + g_rival - g_y
                last = [[-Fraction(int(y == c)) for c in range(m)] for y in range(m)]
                above = [gap(m, rival(y in guesses, i, j), y) for y in range(m)]
                rows = [[*row, *none] for row in order] + [[*none, *row] for row in last]
                rows += [[*row, *own] for row, own in zip(above, last, strict=True)]
                room = [ZERO] * len(order) + [ONE] * m + [ZERO] * m
                best = maximise([*none, *(-v for v in p)], rows, room).value
                assert best is not None  # losses are nonnegative
                values.append(1 - best)
        found[guesses] = min(values)
    return found


def right(p: Vector, k: int, rival: Rival) -> bool:
    """Whether every set of guesses that a minimiser allows is one of the best."""
    risks = least(p, k, rival)
    wrong = [r for s, r in risks.items() if sum((p[y] for y in s), ZERO) < top(p, k)]
    return not wrong or min(wrong) > min(risks.values())


def _solved(pieces: Pieces, p: Vector, k: int) -> Minimisers:
    return minimisers(p, [pieces(len(p), k, y) for y in range(len(p))])


def rest(p: Vector, k: int) -> Fraction:
    """1 - S_k(p): what the k most probable classes leave."""
    return 1 - top(p, k)


# ------------------------------------------------------------------------------ always wrong, and always right


def _draw(rng: Rng, largest: int = 9, unique: bool = True, few: int = 1) -> Inputs:
    m = int(rng.integers(few + 2, 5 if few == 1 else 6))
    k = int(rng.integers(few, m - 1 if few == 1 else m))
    return {
        "p": draw_probabilities(rng, m, k if unique else None, int(unique), largest),
        "k": k,
    }


def _check_fail(
    trial: Trial, *, p: Vector, k: int, hinges: list[Pieces], bound: Callable[[int], Fraction]
) -> None:
    if max(p) >= bound(k):
        trial.nothing_claimed()
        return
    trial.exactly(not right(p, k, kth_of_others), "psi_k is right")
    for pieces in hinges:
        trial.exactly(
            all_err(_solved(pieces, p, k), p, k), "some minimiser is right", loss=pieces.__name__
        )


FAIL = stated(
    "Hinges before 2020",
    draw=partial(_draw, largest=5),
    check=_check_fail,
    says={
        "hinges": [hinge_alpha_pieces, hinge_beta_pieces],
        "bound": lambda k: Fraction(1, k + 1),
    },
    wrong={
        "p_y < 1/k": {"bound": lambda k: Fraction(1, k)},
        "the consistent hinge too": {"hinges": [hinge_consistent_pieces]},
    },
)


def _check_nonconvex(
    trial: Trial, *, p: Vector, k: int, rival: Rival, value: Callable[[Vector, int], Fraction]
) -> None:
    risks = least(p, k, rival)
    trial.exactly(min(risks.values()) == value(p, k), "another least risk", risks=risks)
    trial.exactly(right(p, k, rival), "a minimiser allows a worse set of guesses", risks=risks)


NONCONVEX = stated(
    "The hinge of the next score",
    draw=partial(_draw, unique=False),
    check=_check_nonconvex,
    says={"rival": next_of_all, "value": rest},
    wrong={
        "over the others": {"rival": kth_of_others},
        "the k-th score": {"rival": lambda guessed, i, j: i},
        "twice": {"value": lambda p, k: 2 * rest(p, k)},
    },
)


def _check_convex(trial: Trial, *, p: Vector, k: int, pieces: Pieces) -> None:
    found = _solved(pieces, p, k)
    trial.exactly(found.least == rest(p, k), "another least risk", risk=found.least)
    pair = wrong_pair(found, p, k)
    trial.exactly(pair is None, "a minimiser ranks the second class of `pair` no lower", pair=pair)


CONVEX = stated(
    "A consistent convex hinge",
    draw=partial(_draw, few=2),
    check=_check_convex,
    says={"pieces": hinge_consistent_pieces},
    wrong={
        "alpha": {"pieces": hinge_alpha_pieces},
        "for one guess less": {"pieces": lambda m, k, y: hinge_consistent_pieces(m, k - 1, y)},
    },
)

# ------------------------------------------------------------------------------ where the others are right


def _check_psi(
    trial: Trial,
    *,
    p: Vector,
    k: int,
    value: Callable[[Vector, int], Fraction],
    where: Callable[[Vector, int], bool],
) -> None:
    risks = least(p, k, kth_of_others)
    trial.exactly(min(risks.values()) == value(p, k), "another least risk", risks=risks)
    trial.exactly(right(p, k, kth_of_others) == where(p, k), "right elsewhere", risks=risks)


def beyond(p: Vector, k: int) -> bool:
    """The k-th largest probability exceeds what all classes after it have together."""
    return kth(p, k) > rest(p, k)


PSI = stated(
    "psi_k, where it is right",
    draw=_draw,
    check=_check_psi,
    says={"value": lambda p, k: min(1 - top(p, k - 1), 2 * rest(p, k)), "where": beyond},
    wrong={
        "half of the mass": {"where": lambda p, k: 2 * top(p, k) > 1},
        "the constant's": {"value": lambda p, k: min(ONE, 2 * rest(p, k))},
    },
)


def _draw_near(rng: Rng) -> Inputs:
    """Near the bound, where the statement could fail."""
    while True:
        found = _draw(rng, largest=7, few=2)
        p, k = found["p"], found["k"]
        if abs(kth(p, k) - rest(p, k)) <= Fraction(1, 6) or rng.random() < 0.2:
            return found


def _check_where(
    trial: Trial, *, p: Vector, k: int, pieces: Pieces, where: Callable[[Vector, int], bool]
) -> None:
    found = _solved(pieces, p, k)
    is_right = wrong_pair(found, p, k) is None
    trial.exactly(is_right == where(p, k), "it is right elsewhere", minimiser=found.g, right=is_right)


ALPHA = stated(
    "Top-k hinge alpha, where it is right",
    draw=_draw_near,
    check=_check_where,
    says={"pieces": hinge_alpha_pieces, "where": beyond},
    wrong={
        "beta": {"pieces": hinge_beta_pieces},
        "p_[k] > 1/(k+1)": {"where": lambda p, k: (k + 1) * kth(p, k) > 1},
        "max p >= 1/(k+1)": {"where": lambda p, k: (k + 1) * max(p) >= 1},
    },
)


def _check_between(
    trial: Trial,
    *,
    p: Vector,
    k: int,
    pieces: Pieces,
    enough: Callable[[Vector, int], bool],
    needed: Callable[[Vector, int], bool],
) -> None:
    is_right = wrong_pair(_solved(pieces, p, k), p, k) is None
    trial.exactly(is_right or not enough(p, k), "wrong where the condition is met")
    trial.exactly(not is_right or needed(p, k), "right where it is not met")


BETA = stated(
    "Top-k hinge beta, where it is right",
    draw=_draw_near,
    check=_check_between,
    says={
        "pieces": hinge_beta_pieces,
        "enough": lambda p, k: (k + 1) * kth(p, k) > 1,
        "needed": beyond,
    },
    wrong={
        "alpha's is enough": {"enough": beyond},
        "1/(k+1) is needed": {"needed": lambda p, k: (k + 1) * kth(p, k) > 1},
    },
)
