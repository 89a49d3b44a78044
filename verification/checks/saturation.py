"""Scores to 1e4, 1 - s to 1e-300, curvatures from 1e-300 to 1e10: nothing overflows, nothing is lost."""

from __future__ import annotations

from verification import certificates
from verification.checks import amount
from verification.instances.families import draw
from verification.instances.instance import Instance
from verification.kit.calling import Caller
from verification.problems.problem import Problem
from verification.verdicts.verdict import Judgement

ORDER = 35
COUNTS = {"quick": 150, "thorough": 1200}


def applies(problem: Problem) -> bool:
    """Entropies, and the functions behind them."""
    return problem.kind == "functions" or not problem.generator.rational


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """Saturated ones."""
    return draw(problem.name, "saturated", amount(problem, COUNTS[profile]), seed + 9)


def examine(call: Caller, instance: Instance) -> Judgement:
    """Call once, compare with the solution to 60 digits."""
    return certificates.judge(instance, call(instance))
