"""Who is right: the solvers that the kit must pass, by name and problem.

"fast": the implementation of `fast`; "sound": the slow algorithms that the mutants are made of; and of
models "one side": the trainer of `fast` with one side of its gap, which is judged in another way than both,
and "oracle", where `fast` trains none; "promised": few bits and few steps, as accurate as they promise.
"""

import functools
from collections.abc import Callable
from typing import Any

from verification.problems.problem import Problem, fast_candidate, lookup
from verification.reference_solvers import promised
from verification.reference_solvers import solvers as sound

Solver = Callable[..., Any]

NAMES = ("fast", "sound", "one side", "oracle", "promised")


def solvers(problem: str) -> tuple[str, ...]:
    """Names of the right solvers that a problem has."""
    trained = fast_candidate(problem) is not None
    model = lookup(problem).model
    has = {
        "fast": trained,
        "sound": problem in sound.SOLVERS,
        "one side": trained and model is not None and len(model.parts) > 1,
        "oracle": not trained and model is not None,
        "promised": problem in promised.PROMISED,
    }
    return tuple(name for name in NAMES if has[name])


def solver(name: str, problem: str) -> Solver | None:
    """The callable; None for that of `fast`, which `verification.verify` has itself."""
    if name == "fast":
        return None
    if name == "sound":
        return sound.SOLVERS[problem]
    if name == "promised":
        return promised.PROMISED[problem][0]
    task = lookup(problem)
    return _one_side(task) if name == "one side" else _oracle(task)


def promises(name: str, problem: str) -> dict[str, Any]:
    """What it promises, as options of `verify`: a gap that it has built in, or an accuracy."""
    if name == "promised":
        return {"accuracy": promised.PROMISED[problem][1]}
    return {"fixed": sound.PROMISES.get(problem) if name == "sound" else None}


def _own(problem: Problem) -> tuple[str, ...]:
    assert problem.model is not None
    return tuple(problem.model.parts[problem.operation])


def _one_side(problem: Problem) -> Solver:
    train = fast_candidate(problem.name)
    assert train is not None

    @functools.wraps(train)  # its signature says which arguments it takes
    def one_side(**given: Any) -> dict[str, Any]:
        found = train(**given)
        return {name: found[name] for name in _own(problem)}

    return one_side


def _oracle(problem: Problem) -> Solver:
    def oracle(**given: Any) -> dict[str, Any]:
        assert problem.model is not None
        primal, dual = problem.model.witness(given)
        return {name: {**primal, **dual}[name] for name in _own(problem)}

    return oracle
