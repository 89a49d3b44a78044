"""Families of instances: random, planted, adversarial, tie grid, scale grid; more in `extremes`, `rankings`.

Each family is a generator of main vectors (the array a, scores, x, v or q of a problem); the other
arguments are drawn by one function for all problems. Everything is a function of the seed.
"""

import itertools
import zlib
from collections.abc import Iterator
from typing import Any

import numpy as np

from verification.instances import extremes, planting, rankings
from verification.instances.drawing import (
    Rng,
    complete,
    dual_point,
    entries,
    length,
    main_vector,
    shortest,
)
from verification.instances.instance import Instance
from verification.problems.problem import Problem, lookup

SCALES = (1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6)


def generator(problem: str, family: str, seed: int) -> Rng:
    """Random numbers that depend on all three and on nothing else."""
    return np.random.default_rng([seed, zlib.crc32(problem.encode()), zlib.crc32(family.encode())])


def draw(problem: str, family: str, count: int, seed: int, *, largest: int = 10) -> list[Instance]:
    """Draw ``count`` instances of a family; vectors have at most ``largest`` entries.

    The same (problem, family, seed) gives the same list, and a smaller count its beginning.
    """
    task = lookup(problem)
    makers = RANKINGS if task.ranking else FAMILIES
    stream = makers[family](task, generator(problem, family, seed), largest)
    return list(itertools.islice(stream, count))


def _random(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
    while True:
        d = length(problem, rng, largest)
        vector = rng.normal(rng.choice([0.0, 0.5, -0.5]), rng.choice([0.3, 1.0, 3.0]), d)
        yield complete(problem, rng, "random", main_vector(problem, rng, vector))


def _vectors(rng: Rng, d: int) -> list[np.ndarray]:
    """Vectors that solvers get wrong."""
    normal = rng.normal(size=d)
    tied = rng.choice([-0.5, 0.25, 1.0], size=d)
    one_huge = normal.copy()
    one_huge[rng.integers(d)] = rng.choice([-1.0, 1.0]) * 1e6
    near = tied * (1 + rng.integers(-2, 3, size=d) * np.finfo(float).eps)
    return [
        np.zeros(d),
        np.full(d, normal[0]),
        np.full(d, abs(normal[0])),
        -np.abs(normal),
        np.abs(normal) + 3,
        tied,
        near,
        np.sort(normal),
        np.sort(normal)[::-1].copy(),
        np.repeat(normal[: (d + 1) // 2], 2)[:d],
        one_huge,
        normal * 10.0 ** rng.uniform(-6, 6, d),
        normal + 1e6,
        np.where(rng.random(d) < 0.5, 0.0 * normal, normal),  # zeros of either sign
        normal * 1e-150,
    ]


def _adversarial(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
    while True:
        d = length(problem, rng, largest)
        n = entries(problem, d)
        for vector, k in itertools.product(_vectors(rng, d), sorted({1, max(1, n - 1), n})):
            fixed: dict[str, Any] = {"k": k}
            if rng.random() < 0.2:
                fixed["r"] = float(rng.choice([1e-9, 0.0, 1e9]))
            if rng.random() < 0.2:
                fixed["rho"] = float(rng.choice([1e-8, 1e8]))
            if rng.random() < 0.2:
                fixed["k_ii"] = float(rng.choice([0.0, 1e-8, 1e8]))
            if rng.random() < 0.05:
                fixed["sample_weight"] = 0.0
            yield complete(problem, rng, "adversarial", main_vector(problem, rng, vector), **fixed)


def _planted(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
    """Instances whose solution is a chosen point x of the set, by a chosen normal w there.

    With x the projection of some b and w = b − x, every a = x + ρ<1,x> 1 + λ w has the solution x;
    λ = 0 is the degenerate case in which every active constraint has a zero multiplier.
    """
    while True:
        d = length(problem, rng, largest)
        b = rng.choice([-1.0, -0.25, 0.5, 1.0, 2.0], size=d) + rng.choice([0.0, 0.25], size=d)
        multiple = float(rng.choice([0.0, 0.0, 2.0**-30, 0.25, 4.0]))
        start = complete(problem, rng, "planted", main_vector(problem, rng, b))
        yield planting.plant(start, multiple)


def _ties(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
    """Every vector of up to 3 entries on a small dyadic grid, in random order, then longer ones."""
    grid = [
        (np.array(entries_), k, r, rho)
        for d in (1, 2, 3)
        for entries_ in itertools.product((-1.0, 0.0, 0.5, 1.0), repeat=d)
        for k in range(1, d + 1)
        for r in (0.5, 1.0, 4.0)
        for rho in (0.0, 1.0)
    ]
    for index in rng.permutation(len(grid)):
        vector, k, r, rho = grid[index]
        if problem.others or vector.size < shortest(problem):
            vector = np.insert(vector, rng.integers(0, vector.size + 1), rng.choice([0.0, 0.5]))
        if problem.operation == "conjugate":
            vector = np.abs(vector) / 2
        fixed = {"k": k, "r": r, "rho": rho, "C": r, "k_ii": 1.0 + rho, "gamma": 0.5 + rho}
        yield complete(problem, rng, "ties", vector, **fixed)
    while True:
        d = length(problem, rng, largest)
        vector = rng.choice([-1.0, 0.0, 0.5, 1.0], size=d)
        yield complete(problem, rng, "ties", main_vector(problem, rng, vector))


def _scales(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
    """Vector scale times radius scale times curvature scale, each from 1e-6 to 1e6."""
    while True:
        cells = list(itertools.product(SCALES, SCALES, (0.0, 1e-6, 1.0, 1e6)))
        for index in rng.permutation(len(cells)):
            scale, radius, curvature = cells[index]
            d = length(problem, rng, largest)
            vector = rng.normal(size=d) * scale
            if problem.operation == "conjugate":
                vector = np.abs(vector)
            fixed = {"r": radius, "rho": curvature, "C": radius, "t": radius}
            fixed |= {"k_ii": curvature or 1.0, "gamma": curvature or 1.0}
            yield complete(problem, rng, "scales", vector, **fixed)


def _saturated(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
    """Where exponentials overflow and 1 - s vanishes: scores to 1e4, curvatures 1e-300 to 1e10."""
    for number in itertools.count():
        d = length(problem, rng, largest)
        scale = float(rng.choice([30.0, 700.0, 1e4]))
        vector = rng.normal(size=d) * scale
        kind = rng.integers(4) if number % 3 else 4
        if kind == 0:  # ties far out
            vector = rng.choice([-scale, 0.0, scale], size=d)
        elif kind == 1:  # one winner, just about where 1 - s is the smallest float
            vector = rng.normal(size=d)
            vector[rng.integers(d)] += rng.uniform(600, 760)
        elif kind == 2:  # everybody far below, or above
            vector = rng.normal(size=d) + rng.choice([-1.0, 1.0]) * scale
        elif kind == 4:  # one so far off that libraries take log(1 + e^v) for v, or for e^v
            vector, far = rng.normal(size=d), int(rng.integers(d))
            vector[far] += rng.choice([-1.0, 1.0]) * rng.uniform(18, 33)
        curvature = float(rng.choice([1e-300, 1e-10, 1.0, 1e5, 1e10]))
        fixed: dict[str, Any] = {"t": curvature, "k_ii": curvature, "C": 1.0, "r": 1.0}
        if rng.random() < 0.3:
            fixed |= {"k_ii": 1.0, "C": max(curvature, 1e-10)}
        if problem.others and kind == 4 and rng.random() < 0.75:
            fixed["y"] = far
        if problem.operation == "conjugate":
            vector = dual_point(problem, rng, np.exp(-np.abs(vector)))
        yield complete(problem, rng, "saturated", vector, **fixed)


FAMILIES: dict[str, rankings.Family] = {
    "random": _random,
    "adversarial": _adversarial,
    "planted": _planted,
    "ties": _ties,
    "scales": _scales,
    "saturated": _saturated,
    **extremes.FAMILIES,
}
RANKINGS = rankings.FAMILIES | extremes.RANKINGS
