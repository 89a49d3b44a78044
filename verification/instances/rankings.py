"""Instances of the ranking family: scores with a 0/1 label each, at least one of both kinds."""

import itertools
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np

from verification.instances.instance import Instance
from verification.problems.problem import Problem

Rng = np.random.Generator
Array = np.ndarray[Any, Any]
Family = Callable[[Problem, Rng, int], Iterator[Instance]]
#: Scores of P positives and of N negatives, once or several times.
Draw = Callable[[Rng, int, int], Iterable[tuple[Array, Array]]]
SCALES = (1e-30, 1e-12, 1e-6, 1e-3, 1.0, 1e3, 1e6, 1e12, 1e30)
#: Shapes (P, N) that solvers get wrong, beside those drawn at random.
SHAPES = ((1, 1), (1, 2), (2, 1), (1, 6), (6, 1), (5, 2), (3, 3))

#: Of larger rankings: a score below all that matter, and those of rankings with few of either kind.
BELOW, FEW, TINY = -64.0, 16, 1e-9


def sizes(rng: Rng, largest: int) -> tuple[int, int]:
    """Few samples most of the time; negatives are the majority as often as not."""
    if rng.random() < 0.3:
        P, N = SHAPES[rng.integers(len(SHAPES))]
        return P, N
    n = int(rng.integers(2, max(2, largest if rng.random() < 0.3 else min(largest, 7)) + 1))
    P = int(rng.integers(1, n))
    return P, n - P


def labelled(problem: Problem, rng: Rng, family: str, up: Array, down: Array) -> Instance:
    """Both kinds in a random order, so that nothing is sorted in advance."""
    order = rng.permutation(len(up) + len(down))
    scores = np.concatenate([up, down])[order]
    y = np.concatenate([np.ones(len(up), np.int64), np.zeros(len(down), np.int64)])[order]
    return Instance.of(problem.name, family, scores=scores, y=y)


def padded(instance: Instance) -> Instance:
    """As many positives and negatives as the family says, ``"46341x46341"``, all but some negatives far below.

    Where either kind is few, all of the others matter: their gains are then of the size of one over the
    square of a rank, and so are the scores.
    """
    P, N = map(int, instance.family.split("x"))
    scores, y = instance["scores"], instance["y"]
    up, down = np.resize(scores[y > 0], P), np.resize(scores[y <= 0], N)
    if min(P, N) > FEW:
        down[np.sum(y <= 0) :] = BELOW
    else:
        up, down = up * TINY, down * TINY
    order = np.random.default_rng(P + N).permutation(P + N)
    labels = np.repeat(np.array([1, 0], dtype=np.int64), (P, N))
    return instance.with_params(scores=np.append(up, down)[order], y=labels[order])


def of_sizes(family: str, draw: Draw) -> Family:
    """The family of what is drawn for one pair of sizes after the other."""

    def instances(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
        while True:
            for up, down in draw(rng, *sizes(rng, largest)):
                yield labelled(problem, rng, family, up, down)

    return instances


def _random(rng: Rng, P: int, N: int) -> Iterator[tuple[Array, Array]]:
    scale, shift = rng.choice([0.1, 0.3, 1.0, 3.0]), rng.choice([0.0, 0.0, 0.5, 1.5])
    up, down = rng.normal(shift, 1.0, P) * scale, rng.normal(size=N) * scale
    yield up, down


def boundary(rng: Rng, up: Array, N: int) -> Array:
    """Negatives at which one more inversion, or all from some rank on, gain nothing up to rounding."""
    order = -np.sort(-up)
    P = len(up)
    down = np.empty(N)
    for j in range(1, N + 1):
        first = int(rng.integers(1, P + 1))
        k = np.arange(first, P + 1 if rng.random() < 0.5 else first + 1)
        # the sum of these h_k(j) is zero
        down[j - 1] = (order[k - 1] - N * k / (2 * (j + k) * (j + k - 1))).mean()
    return -np.sort(-down)


def _planted(rng: Rng, P: int, N: int) -> Iterator[tuple[Array, Array]]:
    """Near the optimum of a training: every negative at a kink of the loss, or close to one."""
    up = rng.normal(size=P) * rng.choice([0.0, 0.01, 0.3])
    off = rng.choice([0.0, 1e-15, 1e-9, 1e-3], size=N) * rng.choice([-1.0, 1.0], size=N)
    yield up, boundary(rng, up, N) + off


def _adversarial(rng: Rng, P: int, N: int) -> Iterable[tuple[Array, Array]]:
    """Separated, reversed, equal, integral, shifted far, one score far out, ties up to an eps."""
    up, down = rng.normal(size=P), rng.normal(size=N)
    tied = rng.choice([-0.25, 0.0, 0.25], size=P + N)
    near = tied * (1 + rng.integers(-2, 3, size=P + N) * np.finfo(float).eps)
    whole = rng.integers(-2, 3, size=P + N)
    far = np.concatenate([up, down])
    far[rng.integers(P + N)] = rng.choice([-1.0, 1.0]) * 1e6
    return [
        (np.abs(up) + 10.0, -np.abs(down)),  # separated by more than every gain
        (-np.abs(up) - 10.0, np.abs(down)),
        (np.full(P, up[0]), np.full(N, up[0])),
        (0.0 * up, 0.0 * down),  # zeros of either sign
        (up, np.full(N, down[0])),
        (np.full(P, up[0]), down),
        (tied[:P], tied[P:]),
        (near[:P], near[P:]),
        (whole[:P], whole[P:]),
        (whole[:P] * 2.0**-3, whole[P:] * 2.0**-3),
        (up + 1e6, down + 1e6),
        (far[:P], far[P:]),
        (np.zeros(P), boundary(rng, np.zeros(P), N) + 0.02 * N * down),
        (up * 1e-9, down * 1e-9),
        (up * 1e-300, down * 1e-300),
        (up * 1e140, down * 1e140),
        (np.sort(up), np.sort(down)),
        (-np.sort(-up), -np.sort(-down)),
    ]


def _ties(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
    """Every labelled vector of up to 4 scores on a small dyadic grid, then longer ones."""
    grid = (0.0, 0.25, 0.5, 1.0)  # with P = N = 1 a difference of 1/4 is a kink
    cells = [
        (scores, y)
        for n in (2, 3, 4)
        for scores in itertools.product(grid, repeat=n)
        for y in itertools.product((0, 1), repeat=n)
        if 0 < sum(y) < n
    ]
    for index in rng.permutation(len(cells)):
        scores, y = cells[index]
        yield Instance.of(
            problem.name, "ties", scores=np.array(scores), y=np.array(y, dtype=np.int64)
        )
    while True:
        P, N = sizes(rng, largest)
        values = rng.choice(grid, size=P + N)
        yield labelled(problem, rng, "ties", values[:P], values[P:])


def _scales(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
    while True:
        for index in rng.permutation(len(SCALES)):
            P, N = sizes(rng, largest)
            up, down = rng.normal(size=P), rng.normal(size=N)
            yield labelled(problem, rng, "scales", up * SCALES[index], down * SCALES[index])


def _saturated(rng: Rng, P: int, N: int) -> Iterator[tuple[Array, Array]]:
    """Nearly all negatives far below: the loss is decided by the few that are not."""
    up, down = rng.normal(size=P), rng.normal(size=N) - 50.0
    active = rng.random(N) < 0.3
    down[active] += 50.0
    yield up, down


FAMILIES: dict[str, Family] = {
    "random": of_sizes("random", _random),
    "adversarial": of_sizes("adversarial", _adversarial),
    "planted": of_sizes("planted", _planted),
    "ties": _ties,
    "scales": _scales,
    "saturated": of_sizes("saturated", _saturated),
}
