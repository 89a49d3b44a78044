"""Scale grid: vector, radius and curvature from 1e-6 to 1e6, where absolute epsilons show."""

from __future__ import annotations

from verification import certificates
from verification.checks import amount
from verification.instances.families import draw
from verification.instances.instance import Instance
from verification.kit.calling import Caller
from verification.problems.problem import Problem
from verification.verdicts.verdict import Judgement

ORDER = 40
COUNTS = {"quick": 150, "thorough": 1200}


def applies(problem: Problem) -> bool:
    """Every operation on vectors."""
    return problem.kind != "models"


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """Cells of the grid in random order."""
    return draw(problem.name, "scales", amount(problem, COUNTS[profile]), seed)


def examine(call: Caller, instance: Instance) -> Judgement:
    """Call once, compare with the exact solution."""
    return certificates.judge(instance, call(instance))
