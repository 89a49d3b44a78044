"""Arguments that a candidate has built in: ``verify(..., fixed={"k": 3})``.

Every instance then has these values, and the candidate need not accept them.
"""

import dataclasses
from collections.abc import Mapping
from numbers import Integral, Real
from typing import Any

import numpy as np

from verification.checks import Check, discover
from verification.errors import InvalidArgumentError
from verification.instances import datasets, drawing, families
from verification.instances.instance import Instance
from verification.problems.problem import Problem, lookup

#: Instances of this family show what values an argument can have.
PROBE = "random"
PROBES = 60
#: Seeds that are tried before a shorter list of instances is accepted.
ROUNDS = 12


def fix(problem: Problem, fixed: Mapping[str, Any] | None) -> Problem:
    """The problem with some arguments fixed.

    Raises
    ------
    InvalidArgumentError
        For a name that is no argument, and for a value that no instance can have.
    """
    if not fixed:
        return problem
    if not isinstance(fixed, Mapping):
        raise InvalidArgumentError(f"fixed={fixed!r}: expected a mapping, e.g. {{'k': 2}}")
    possible = [a for a in problem.arguments if a != problem.data]
    for name in fixed:
        if name not in possible:
            raise InvalidArgumentError(
                f"fixed={{{name!r}: ...}}: {problem.name} can fix {', '.join(possible) or 'nothing'}"
            )
    samples = _samples(problem, {})
    checked = {name: _plain(name, value, samples) for name, value in fixed.items()}
    for name, value in checked.items():
        if not _samples(problem, {name: value}):
            shown = sorted({repr(s[name]) for s in samples if np.ndim(s[name]) == 0})
            words = any(isinstance(s[name], str) for s in samples)
            shown = shown if words else shown[:4]
            raise InvalidArgumentError(
                f"fixed={{{name!r}: {value!r}}}: no instance of {problem.name} has this value; "
                f"expected one such as {', '.join(shown)}"
            )
    if len(checked) > 1 and not _samples(problem, checked):
        raise InvalidArgumentError(
            f"fixed={checked!r}: no instance of {problem.name} has all of these values; fix fewer"
        )
    return dataclasses.replace(problem, fixed=checked)


def _samples(problem: Problem, fixed: Mapping[str, Any]) -> list[Instance]:
    if problem.model is not None:
        family = next(iter(problem.model.families))
        return datasets.draw(problem.name, family, PROBES, 0, fixed=fixed)
    drawn = families.draw(problem.name, PROBE, PROBES, 0)
    return [i for each in drawn if (i := _with(each, fixed)) is not None]


def _plain(name: str, value: Any, samples: list[Instance]) -> Any:
    """The value in the type that instances have."""
    kinds = {type(s[name]) for s in samples if s[name] is not None}
    if isinstance(value, Real) and not isinstance(value, Integral) and kinds == {int}:
        raise InvalidArgumentError(f"fixed={{{name!r}: {value!r}}}: expected an integer")
    if isinstance(value, bool) and bool not in kinds:
        raise InvalidArgumentError(f"fixed={{{name!r}: {value!r}}}: expected a number")
    if isinstance(value, Real) and kinds == {float}:
        return float(value)
    if isinstance(value, np.generic):
        return value.item()
    return np.asarray(value) if isinstance(value, (list, tuple)) else value


def _with(instance: Instance, fixed: Mapping[str, Any]) -> Instance | None:
    """The instance with the fixed values; None if that is not one."""
    changed = instance.with_params(**fixed)
    if not fixed:
        return changed
    params = changed.params
    if any(isinstance(v, float) and not np.isfinite(v) for v in params.values()):
        return None
    main, y = params[next(iter(params))], params.get("y")
    if isinstance(y, int) and not 0 <= y < np.size(main):
        return None
    try:
        return changed if drawing.valid(changed) else None
    except (ValueError, TypeError, IndexError, AttributeError):  # of another type or shape
        return None


def instances(check: Check, problem: Problem, profile: str, seed: int) -> list[Instance]:
    """The instances of a check, with the fixed values; as many as without them, if possible."""
    drawn = check.instances(problem, profile, seed)
    if not problem.fixed or problem.model is not None:
        return drawn
    found: list[Instance] = []
    wanted, offset = len(drawn), 0
    while len(found) < wanted and offset < ROUNDS:
        if offset:  # far from the seeds that a user may try next
            drawn = check.instances(problem, profile, seed + 1000 * offset)
        found += [i for each in drawn if (i := _with(each, problem.fixed)) is not None]
        offset += 1
    return found[:wanted]


def recipe(check: str, problem: Problem, profile: str, seed: int, index: int) -> str:
    """The call of `drawn`, as code, that gives one of the instances of a check."""
    fixed = f", {problem.fixed!r}" if problem.fixed else ""
    return f"drawn({check!r}, {problem.name!r}, {profile!r}, {seed}, {index}{fixed})"


def drawn(
    check: str,
    problem: str,
    profile: str,
    seed: int,
    index: int,
    fixed: Mapping[str, Any] | None = None,
) -> Instance:
    """One of the instances of a check, as a script without its numbers asks for it."""
    return instances(discover()[check], fix(lookup(problem), fixed), profile, seed)[index]


def agrees(instance: Instance, fixed: Mapping[str, Any]) -> bool:
    """Whether an instance has the fixed values."""
    return all(np.array_equal(instance.get(name), value) for name, value in fixed.items())
