"""What all families draw with: sizes, ground truths, dual points, the arguments beside the main vector."""

from typing import Any

import numpy as np

from refsolve import catalogue
from refsolve.errors import InvalidParameterError
from verification.instances.instance import Instance
from verification.problems.problem import Problem

Rng = np.random.Generator


def entries(problem: Problem, vector_length: int) -> int:
    """Dimension of the dual block that belongs to a main vector: one less for score vectors."""
    return vector_length - 1 if problem.others else vector_length


def complete(problem: Problem, rng: Rng, family: str, vector: np.ndarray, **fixed: Any) -> Instance:
    """Add the arguments that ``fixed`` does not give; often at the ends of their ranges."""
    d = entries(problem, vector.size)
    size = float(np.max(np.abs(vector), initial=0.0)) or 1.0
    params: dict[str, Any] = {problem.data: vector}
    for symbol in problem.symbols[1:]:
        if symbol.name in fixed:
            params[symbol.name] = fixed[symbol.name]
        elif symbol.shape == "truth":
            params[symbol.name] = _truth(problem, rng, vector.size)
        elif symbol.shape == "vector" and symbol.name not in problem.own:
            params[symbol.name] = _costs(problem, rng, vector.size, params.get("y"))
        else:
            params[symbol.name] = symbol.draw(rng, d, size, params)
    if params.get("k_ii") == 0:  # then x_i = 0, and so are its scores
        params[problem.data] = np.zeros_like(vector)
        if "costs" in params and "costs" not in fixed:  # they are all that matters
            params["costs"] = _costs_alone(problem, rng.spawn(1)[0], vector.size, params["y"])
    if problem.labels and problem.operation == "conjugate" and rng.random() < 0.8:
        params["x"] = _labelled_dual_point(problem, vector, params["y"])
    return Instance.of(problem.name, family, **params)


def valid(instance: Instance) -> bool:
    """Whether all arguments are in the ranges that every object declares."""
    problem = instance.problem
    params = instance.params
    main, y = params[problem.data], np.asarray(params.get("y"))
    if main.size < shortest(problem) or not np.isfinite(main).all():
        return False
    if problem.labels and (y.shape != main.shape or not (y.any() or not _needs_label(problem))):
        return False
    if problem.ranking and (y.min() != 0 or y.max() != 1):
        return False
    d, costs = entries(problem, main.size), params.get("costs")
    for symbol in problem.symbols[1:]:
        value = params.get(symbol.name)
        if symbol.shape == "scalar" and not (value is None or symbol.admits(value, d)):
            return False
    try:
        own = {n: params[n] for n in problem.own if n in params}
        own |= {
            s.name: s.check(own[s.name], d)
            for s in problem.symbols
            if s.shape == "vector" and s.name in own
        }
        catalogue.admit(problem.object_name, d, own)
    except InvalidParameterError:
        return False
    if costs is not None and (costs.min() < 0 or (problem.others and costs[int(y)] != 0)):
        return False
    return params.get("k_ii") != 0 or not main.any()


def shortest(problem: Problem) -> int:
    """Least number of entries of a main vector: two classes, but one other class."""
    return 2 if problem.others or problem.family in ("ova", "multilabel", "ranking") else 1


def _needs_label(problem: Problem) -> bool:
    """Whether a row of labels must have a positive one."""
    return problem.generator.shifted


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


def on_grid(x: np.ndarray, y: np.ndarray, problem: Problem) -> np.ndarray:
    """A labelled dual point in multiples of 2^-16, which meets the equations of the domain to the last bit."""
    if _needs_label(problem):  # sum 0, and bounds from below
        x = np.ceil(x * 2**16) / 2**16
        x[np.argmax(x)] -= x.sum()
        return x
    x = np.floor(x * 2**16) / 2**16
    more = x[y == 1].sum() - x[y == 0].sum()
    larger = y == int(more > 0)
    if larger.any():
        x[np.argmax(np.where(larger, x, -1.0))] -= abs(more)
    return x


def _costs(problem: Problem, rng: Rng, size: int, y: int | None) -> np.ndarray | None:
    kind = rng.random()
    if kind < 0.6:
        return None
    costs = (
        rng.choice([0.5, 1.0, 2.0], size=size) if rng.random() < 0.5 else rng.uniform(0, 2, size)
    )
    if kind < 0.7:  # no costs, or some: costs of 0 are not those of the loss
        costs[:: 1 if kind < 0.65 else 2] = 0.0
    if problem.others:
        costs[y] = 0.0
    return costs


def _costs_alone(problem: Problem, rng: Rng, size: int, y: int | np.ndarray) -> np.ndarray | None:
    """Costs where there are no scores: often 0, and of labels often 0 on one side."""
    if rng.random() < 0.3:
        return None
    costs = rng.choice([0.0, 0.5, 1.0, 2.0], size=size)
    if problem.labels and rng.random() < 0.7:
        costs[np.asarray(y) == rng.integers(2)] = 0.0
    if problem.others:
        costs[y] = 0.0
    return costs


def length(problem: Problem, rng: Rng, largest: int) -> int:
    """Short vectors most of the time: bugs live there, and there they are easiest to read."""
    low = shortest(problem)
    top = largest if rng.random() < 0.3 else min(largest, 6)
    return int(rng.integers(low, max(top, low) + 1))


def dual_point(problem: Problem, rng: Rng, vector: np.ndarray) -> np.ndarray:
    """Turn any vector into one of the size of a dual point; half of them inside the domain."""
    x = np.abs(vector)
    total = x.sum()
    if total > 0 and rng.random() < 0.8:
        # 1 - s of every size: what is taken for a sum of 1 shows
        x = x / total * rng.choice([0.25, 0.5, 1.0 - 2.0 ** -float(rng.integers(2, 50))])
    return x


def main_vector(problem: Problem, rng: Rng, vector: np.ndarray) -> np.ndarray:
    """A vector as the problem's main argument: scores, or of the size of a dual point."""
    return dual_point(problem, rng, vector) if problem.operation == "conjugate" else vector
