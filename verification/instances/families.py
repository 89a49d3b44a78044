"""Families of instances: random, planted, adversarial, tie grid, scale grid; more in `extremes`.

Each family is a generator of main vectors (the array a, scores, x, v or q of a problem); the other
arguments are drawn by one function for all problems. Everything is a function of the seed.
"""

from __future__ import annotations

import itertools
import zlib
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from verification.instances import rankings
from verification.instances.instance import Instance
from verification.problems.problem import Problem, lookup

Rng = np.random.Generator
# Ranges that hold for every stem.
NONNEGATIVE = ("r", "rho", "k_ii", "sample_weight")
POSITIVE = ("t", "gamma", "C")
SCALES = (1e-6, 1e-4, 1e-2, 1.0, 1e2, 1e4, 1e6)


def generator(problem: str, family: str, seed: int) -> Rng:
    """Random numbers that depend on all three and on nothing else."""
    return np.random.default_rng([seed, zlib.crc32(problem.encode()), zlib.crc32(family.encode())])


def draw(problem: str, family: str, count: int, seed: int, *, largest: int = 10) -> list[Instance]:
    """Draw ``count`` instances of a family; vectors have at most ``largest`` entries.

    The same (problem, family, seed) gives the same list, and a smaller count its beginning.
    """
    task = lookup(problem)
    makers = rankings.FAMILIES if task.ranking else FAMILIES
    stream = makers[family](task, generator(problem, family, seed), largest)
    return list(itertools.islice(stream, count))


def entries(problem: Problem, vector_length: int) -> int:
    """Dimension of the dual block that belongs to a main vector: one less for score vectors."""
    return vector_length - 1 if problem.others else vector_length


def complete(problem: Problem, rng: Rng, family: str, vector: np.ndarray, **fixed: Any) -> Instance:
    """Add the arguments that ``fixed`` does not give; often at the ends of their ranges."""
    d = entries(problem, vector.size)
    size = float(np.max(np.abs(vector), initial=0.0)) or 1.0
    draws: dict[str, Callable[[], Any]] = {
        "k": lambda: int(rng.choice([1, d, max(1, d - 1), int(rng.integers(1, d + 1))])),
        "r": lambda: float(rng.choice([1.0, 1.0, size * rng.uniform(0.05, 2.0), 8 * d * size])),
        "rho": lambda: float(rng.choice([0.0, 0.0, 1.0, 10.0 ** rng.uniform(-2, 2)])),
        "y": lambda: _truth(problem, rng, vector.size),
        "gamma": lambda: float(rng.choice([1.0, 0.5, 10.0 ** rng.uniform(-2, 1)])),
        "t": lambda: float(rng.choice([1.0, 10.0 ** rng.uniform(-2, 2)])),
        "k_ii": lambda: float(rng.choice([1.0, 2.0, 10.0 ** rng.uniform(-2, 2)])),
        "C": lambda: float(rng.choice([1.0, 10.0 ** rng.uniform(-2, 2)])),
        "costs": lambda: _costs(problem, rng, vector.size, params.get("y")),
        "sample_weight": lambda: float(rng.uniform(0.1, 3.0)) if rng.random() < 0.3 else None,
    }
    params: dict[str, Any] = {problem.data: vector}
    for name in problem.arguments[1:]:
        params[name] = fixed[name] if name in fixed else draws[name]()
    if params.get("k_ii") == 0:  # then x_i = 0, and so are its scores
        params[problem.data] = np.zeros_like(vector)
    if problem.labels and problem.operation == "conjugate" and rng.random() < 0.8:
        params["x"] = _labelled_dual_point(problem, vector, params["y"])
    return Instance.of(problem.name, family, **params)


def valid(instance: Instance) -> bool:
    """Whether all arguments are in the ranges that every stem declares."""
    problem = lookup(instance.problem)
    params = instance.params
    main, y = params[problem.data], np.asarray(params.get("y"))
    if main.size < shortest(problem) or not np.isfinite(main).all():
        return False
    if problem.labels and (y.shape != main.shape or not (y.any() or not _needs_label(problem))):
        return False
    if problem.ranking and (y.min() != 0 or y.max() != 1):
        return False
    d, k, costs = entries(problem, main.size), params.get("k"), params.get("costs")
    highest = problem.largest_k(d)
    if k is not None and (k < 1 or (highest is not None and k > highest)):
        return False
    if any(params.get(n) is not None and params[n] < 0 for n in NONNEGATIVE):
        return False
    positive = [n for n in POSITIVE if n != problem.data]
    if any(params.get(n) is not None and params[n] <= 0 for n in positive):
        return False
    if costs is not None and (costs.min() < 0 or (problem.others and costs[int(y)] != 0)):
        return False
    return params.get("k_ii") != 0 or not main.any()


def shortest(problem: Problem) -> int:
    """Least number of entries of a main vector: two classes, but one other class."""
    return 2 if problem.others or problem.family in ("ova", "multilabel", "ranking") else 1


def _needs_label(problem: Problem) -> bool:
    """Whether a row of labels must have a positive one."""
    return problem.generator == "simplex_entropy"


def _truth(problem: Problem, rng: Rng, size: int) -> int | np.ndarray:
    """A class, or a row of labels in which now and then all or none are positive."""
    if not problem.labels:
        return int(rng.integers(0, size))
    y = (rng.random(size) < rng.choice([0.2, 0.5, 0.5, 0.8])).astype(np.int64)
    if rng.random() < 0.85:  # both kinds
        y[rng.integers(size)] = 1
        if size > 1 and y.all():
            y[rng.integers(size)] = 0
    if _needs_label(problem) and not y.any():
        y[rng.integers(size)] = 1
    return y


def _labelled_dual_point(problem: Problem, vector: np.ndarray, y: np.ndarray) -> np.ndarray:
    """A dual point of the size of ``vector`` that meets the equations of the domain, up to rounding."""
    x = np.abs(vector)
    if _needs_label(problem):
        p = x / x.sum() if x.sum() > 0 else np.full(x.size, 1 / x.size)
        return p - y / y.sum()
    sums = x[y == 0].sum(), x[y == 1].sum()
    least = min(sums)
    scale = np.where(y == 1, *(least / s if s > 0 else 0.0 for s in sums[::-1]))
    return x * scale / max(1.0, least)


def _costs(problem: Problem, rng: Rng, size: int, y: int | None) -> np.ndarray | None:
    if rng.random() < 0.6:
        return None
    costs = (
        rng.choice([0.5, 1.0, 2.0], size=size) if rng.random() < 0.5 else rng.uniform(0, 2, size)
    )
    if problem.others:
        costs[y] = 0.0
    return costs


def _length(problem: Problem, rng: Rng, largest: int) -> int:
    """Short vectors most of the time: bugs live there, and there they are easiest to read."""
    low = shortest(problem)
    top = largest if rng.random() < 0.3 else min(largest, 6)
    return int(rng.integers(low, max(top, low) + 1))


def _dual_point(problem: Problem, rng: Rng, vector: np.ndarray) -> np.ndarray:
    """Turn any vector into one of the size of a dual point; half of them inside the domain."""
    x = np.abs(vector)
    total = x.sum()
    if total > 0 and rng.random() < 0.8:
        x = x / total * rng.choice([0.25, 0.5, 1.0 - 2.0**-20])
    return x


def _main(problem: Problem, rng: Rng, vector: np.ndarray) -> np.ndarray:
    return _dual_point(problem, rng, vector) if problem.operation == "conjugate" else vector


def _random(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
    while True:
        d = _length(problem, rng, largest)
        vector = rng.normal(rng.choice([0.0, 0.5, -0.5]), rng.choice([0.3, 1.0, 3.0]), d)
        yield complete(problem, rng, "random", _main(problem, rng, vector))


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
        d = _length(problem, rng, largest)
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
            yield complete(problem, rng, "adversarial", _main(problem, rng, vector), **fixed)


def _planted(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
    """Instances whose solution is a chosen point x of the set, by a chosen normal w there.

    With x the projection of some b and w = b − x, every a = x + ρ<1,x> 1 + λ w has the solution x;
    λ = 0 is the degenerate case in which every active constraint has a zero multiplier.
    """
    from verification.certificates import planting

    while True:
        d = _length(problem, rng, largest)
        b = rng.choice([-1.0, -0.25, 0.5, 1.0, 2.0], size=d) + rng.choice([0.0, 0.25], size=d)
        multiple = float(rng.choice([0.0, 0.0, 2.0**-30, 0.25, 4.0]))
        start = complete(problem, rng, "planted", _main(problem, rng, b))
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
        d = _length(problem, rng, largest)
        vector = rng.choice([-1.0, 0.0, 0.5, 1.0], size=d)
        yield complete(problem, rng, "ties", _main(problem, rng, vector))


def _scales(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
    """Vector scale times radius scale times curvature scale, each from 1e-6 to 1e6."""
    while True:
        cells = list(itertools.product(SCALES, SCALES, (0.0, 1e-6, 1.0, 1e6)))
        for index in rng.permutation(len(cells)):
            scale, radius, curvature = cells[index]
            d = _length(problem, rng, largest)
            vector = rng.normal(size=d) * scale
            if problem.operation == "conjugate":
                vector = np.abs(vector)
            fixed = {"r": radius, "rho": curvature, "C": radius, "t": radius}
            fixed |= {"k_ii": curvature or 1.0, "gamma": curvature or 1.0}
            yield complete(problem, rng, "scales", vector, **fixed)


def _saturated(problem: Problem, rng: Rng, largest: int) -> Iterator[Instance]:
    """Where exponentials overflow and 1 - s vanishes: scores to 1e4, curvatures 1e-300 to 1e10."""
    while True:
        d = _length(problem, rng, largest)
        scale = float(rng.choice([30.0, 700.0, 1e4]))
        vector = rng.normal(size=d) * scale
        kind = rng.integers(4)
        if kind == 0:  # ties far out
            vector = rng.choice([-scale, 0.0, scale], size=d)
        elif kind == 1:  # one winner, just about where 1 - s is the smallest float
            vector = rng.normal(size=d)
            vector[rng.integers(d)] += rng.uniform(600, 760)
        elif kind == 2:  # everybody far below, or above
            vector = rng.normal(size=d) + rng.choice([-1.0, 1.0]) * scale
        curvature = float(rng.choice([1e-300, 1e-10, 1.0, 1e5, 1e10]))
        fixed: dict[str, Any] = {"t": curvature, "k_ii": curvature, "C": 1.0, "r": 1.0}
        if rng.random() < 0.3:
            fixed |= {"k_ii": 1.0, "C": max(curvature, 1e-10)}
        if problem.operation == "conjugate":
            vector = _dual_point(problem, rng, np.exp(-np.abs(vector)))
        yield complete(problem, rng, "saturated", vector, **fixed)


FAMILIES: dict[str, Callable[[Problem, Rng, int], Iterator[Instance]]] = {
    "random": _random,
    "adversarial": _adversarial,
    "planted": _planted,
    "ties": _ties,
    "scales": _scales,
    "saturated": _saturated,
}

# these build on the functions above
from verification.instances import extremes  # noqa: E402

FAMILIES |= extremes.FAMILIES
rankings.FAMILIES |= extremes.RANKINGS
