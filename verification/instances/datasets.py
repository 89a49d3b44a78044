"""Instances of trained models: drawn from a model's own families, valid or not, and simpler ones."""

import itertools
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from verification.instances.instance import Instance
from verification.models import ModelTask, Params, load
from verification.problems.problem import Problem, lookup

#: Columns of a wide X: around two warps and four.
COLUMNS = (65, 66, 95, 97, 128, 131)


def draw(
    problem: str | Problem,
    family: str,
    count: int,
    seed: int,
    *,
    largest: int = 24,
    fixed: Mapping[str, Any] | None = None,
) -> list[Instance]:
    """Draw ``count`` instances of a family, with at most ``largest`` examples.

    The same arguments give the same list. ``fixed`` replaces arguments; what is then invalid is not
    drawn, and if hardly anything is valid the list is shorter.
    """
    task = lookup(problem)
    model = load(task.object_name)
    # primal and dual have the same instances
    key = [seed, zlib.crc32(task.object_name.encode()), zlib.crc32(family.encode())]
    rng = np.random.default_rng(key)
    stream = itertools.islice(model.families[family](rng, largest), 200 * count)
    found: list[Instance] = []
    for drawn in stream:
        params = {**model.defaults, **drawn, **(fixed or {})}
        params = model.finalize(params, rng) | dict(fixed or {})
        if _valid(model, params):
            items = {name: params[name] for name in model.arguments}
            found.append(Instance.of(task, family, **items))
        if len(found) == count:
            break
    return found


def wide(problem: Problem, count: int, seed: int, largest: int) -> Iterator[Instance]:
    """Instances of the first family whose X has more columns than two warps have lanes, if it has an X."""
    rng = np.random.default_rng([seed, zlib.crc32(problem.object_name.encode())])
    drawn = draw(
        problem,
        next(iter(load(problem.object_name).families)),
        8 * count,
        seed,
        largest=largest,
        fixed=problem.fixed,
    )
    usable = (i for i in drawn if np.ndim(i.get("X")) == 2)
    for narrow in itertools.islice(usable, count):
        X = narrow["X"]
        more = rng.standard_normal((len(X), int(rng.choice(COLUMNS)) - X.shape[1]))
        found = narrow.with_params(X=np.hstack([X, more]))
        if valid(found):
            yield replace(found, family="wide")


def valid(instance: Instance) -> bool:
    """Whether an instance's arguments are those of its model."""
    return _valid(load(instance.object_name), instance.params)


def simpler(instance: Instance) -> Iterator[Instance]:
    """Simpler instances of the same problem, valid or not."""
    for params in load(instance.object_name).simpler(instance.params):
        yield Instance.of(instance.problem, instance.family, **params)


def _valid(model: ModelTask, params: Params) -> bool:
    """Whether these are arguments of the model, and the promise one that can be kept."""
    return bool(0 < params["tol"] < 1 and model.valid(params))
