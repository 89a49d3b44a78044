"""Partial area under the top-k curve: the mean of the top-1 to top-k accuracies."""

from collections.abc import Callable
from fractions import Fraction
from itertools import pairwise, permutations

from verification.paper_statements import Inputs, Rng, Trial
from verification.paper_statements._rational import Vector, draw_vector
from verification.paper_statements._topk import (
    ZERO,
    Loss,
    hinge_alpha,
    hinge_beta,
    kth,
    margins,
    top,
)
from verification.paper_statements.later_work import stated
from verification.paper_statements.risk import (
    Pieces,
    draw_probabilities,
    gap,
    hinge_beta_pieces,
    hinge_consistent_pieces,
    minimisers,
    optimal,
)


def _draw(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 5))
    p = draw_probabilities(rng, m, least=0, largest=4)
    f = draw_vector(rng, m, spread=1)
    if rng.random() < 0.6:
        f = [v / 4 + 2 * w for v, w in zip(f, p, strict=True)]
    return {"p": p, "f": f, "k": int(rng.integers(1, m))}


def area(p: Vector, order: tuple[int, ...], k: int) -> Fraction:
    """Expected mean of the top-1 to top-k accuracies of a ranking."""
    return sum((sum((p[y] for y in order[: s + 1]), ZERO) for s in range(k)), ZERO) / k


def each(p: Vector, f: Vector, k: int) -> bool:
    """Whether the first guess, the first two, ..., the first k are the best."""
    return all(optimal(f, p, s) for s in range(1, k + 1))


def _check_optimal(
    trial: Trial, *, p: Vector, f: Vector, k: int, right: Callable[[Vector, Vector, int], bool]
) -> None:
    areas = {order: area(p, order, k) for order in permutations(range(len(p)))}
    allowed = [a for s, a in areas.items() if all(f[i] >= f[j] for i, j in pairwise(s))]
    best = min(allowed) == max(areas.values())
    trial.exactly(best == right(p, f, k), "the condition says otherwise")


OPTIMAL = stated(
    "Best scores for the area",
    draw=_draw,
    check=_check_optimal,
    says={"right": each},
    wrong={
        "the set of k guesses alone": {"right": lambda p, f, k: optimal(f, p, k)},
        "the whole ranking": {"right": lambda p, f, k: each(p, f, len(p) - 1)},
    },
)


def _draw_hinge(rng: Rng) -> Inputs:
    m = int(rng.integers(2, 7))
    y, k = int(rng.integers(m)), int(rng.integers(1, m))
    return {"f": draw_vector(rng, m, spread=2), "y": y, "k": k}


def _check_hinge(trial: Trial, *, f: Vector, y: int, k: int, hinge: Loss, share: int) -> None:
    z = margins(f, y)
    each_hinge = [max(ZERO, kth(z, s)) for s in range(1, k + 1)]
    lost = sum(kth(z, s) >= 1 for s in range(1, k + 1))  # ties count as errors
    trial.exactly(hinge(z, k) * share == sum(each_hinge, ZERO) * share / k, "not their mean")
    trial.exactly(hinge(z, k) * k >= lost * share, "below what is lost")


HINGE = stated(
    "Top-k hinge beta and the area",
    draw=_draw_hinge,
    check=_check_hinge,
    says={"hinge": hinge_beta, "share": 1},
    wrong={"alpha": {"hinge": hinge_alpha}, "twice as tight": {"share": 2}},
)


def _draw_tied(rng: Rng) -> Inputs:
    m = int(rng.integers(3, 6))
    k = int(rng.integers(2, m))
    return {"p": draw_probabilities(rng, m, k, largest=6), "k": k}


def _check_tied(trial: Trial, *, p: Vector, k: int, pieces: Pieces) -> None:
    found = minimisers(p, [pieces(len(p), k, y) for y in range(len(p))])
    trial.exactly(found.least == 1 - top(p, k), "the least risk is not the least error")
    best = sorted(range(len(p)), key=lambda y: -p[y])[:k]
    apart = [(i, j) for i in best for j in best if i != j and found.largest(gap(len(p), i, j)) != 0]
    trial.exactly(not apart, "some minimiser tells guesses apart", guesses=apart)


TIED = stated(
    "The consistent hinge and the area",
    draw=_draw_tied,
    check=_check_tied,
    says={"pieces": hinge_consistent_pieces},
    wrong={
        "beta": {"pieces": hinge_beta_pieces},
        "for one guess less": {"pieces": lambda m, k, y: hinge_consistent_pieces(m, k - 1, y)},
    },
)
