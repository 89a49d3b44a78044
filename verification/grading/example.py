"""A small instance of an exercise with its answer, as the lines that a program reads and writes."""

import inspect
from collections.abc import Iterator
from typing import Any

import numpy as np

from verification.exercises import Exercise
from verification.external import wire
from verification.instances.families import draw


def example(exercise: Exercise) -> tuple[dict[str, Any], dict[str, Any]]:
    """A request of the protocol, and the key's answer to it: the first of three entries that says something."""
    for given in _given(exercise):
        known = exercise.problem.defaults | given | exercise.fixed
        answer = np.asarray(
            exercise.key(**{n: known[n] for n in inspect.signature(exercise.key).parameters})
        )
        size = max((v.size for v in known.values() if isinstance(v, np.ndarray)), default=3)
        if size >= 3 and np.isfinite(answer).all() and answer.any():
            break
    request: dict[str, Any] = {"v": wire.VERSION, "id": 1, "problem": exercise.problem.name}
    request |= {"params": {}, "arrays": {}}
    for name, value in known.items():
        if isinstance(value, np.ndarray):
            request["arrays"][name] = wire.array(value)
        else:
            request["params"][name] = wire.scalar(value)
    return request, {"id": 1, "x": answer.tolist()}


def _given(exercise: Exercise) -> Iterator[dict[str, Any]]:
    """Arguments from small to large, with few digits."""
    if exercise.own:
        yield from exercise.module.instances()
        return
    for instance in draw(exercise.problem.name, "random", 40, 0, largest=3):
        yield {n: np.round(v, 2) if _floats(v) else v for n, v in instance.params.items()}


def _floats(value: object) -> bool:
    return isinstance(value, (float, np.ndarray)) and np.asarray(value).dtype.kind == "f"
