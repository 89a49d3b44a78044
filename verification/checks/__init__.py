"""One check per file, found by discovery.

A check is a module with

``ORDER`` : int
    Checks run in this order.
``COUNTS`` : dict
    Number of instances per profile.
``applies(problem)`` : bool
    Whether the check makes sense for a `verification.problems.Problem`.
``instances(problem, profile, seed)`` : list of Instance
``examine(call, instance)`` : Judgement
    Runs the candidate (a `verification.kit.solver_call.Caller`) and judges it.

Its docstring's first line says what it checks. Files with an underscore in front are helpers.
"""

import functools
import importlib
import pkgutil
from typing import Protocol

from verification.instances.instance import Instance
from verification.kit.solver_call import Caller
from verification.problems.problem import Problem
from verification.verdicts.verdict import Judgement


class Check(Protocol):
    """What a module in this folder provides."""

    __name__: str
    __doc__: str | None
    ORDER: int
    COUNTS: dict[str, int]

    def applies(self, problem: Problem) -> bool:
        """Whether the check makes sense for the problem."""

    def instances(self, problem: Problem, profile: str, seed: int) -> list[Instance]:
        """Instances to run it on."""

    def examine(self, call: Caller, instance: Instance) -> Judgement:
        """Run the candidate and judge it."""


#: Share of the instances that a check runs on where the truth is computed in decimal arithmetic.
DECIMAL_SHARE = 1 / 3


def amount(problem: Problem, count: int) -> int:
    """Number of instances for a problem: decimal exponentials cost more than fractions do."""
    return count if problem.generator.rational else max(1, round(DECIMAL_SHARE * count))


@functools.cache
def discover() -> dict[str, Check]:
    """All checks by name, in their order."""
    found: dict[str, Check] = {}
    for info in pkgutil.iter_modules(__path__):
        if not info.name.startswith("_"):
            found[info.name] = importlib.import_module(f"{__name__}.{info.name}")
    return dict(sorted(found.items(), key=lambda item: (item[1].ORDER, item[0])))
