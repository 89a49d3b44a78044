"""Tie grid: every short vector of a few dyadic numbers, where the right case is easily missed."""

from __future__ import annotations

from verification import certificates
from verification.checks import amount
from verification.instances.families import draw
from verification.instances.instance import Instance
from verification.kit.calling import Caller
from verification.problems.problem import Problem
from verification.verdicts.verdict import Judgement

ORDER = 30
COUNTS = {"quick": 400, "thorough": 2500}


def applies(problem: Problem) -> bool:
    """Every operation on vectors."""
    return problem.kind != "models"


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """A random part of the grid; with thorough all of it, and longer tied vectors."""
    return draw(problem.name, "ties", amount(problem, COUNTS[profile]), seed)


def examine(call: Caller, instance: Instance) -> Judgement:
    """Call once, compare with the exact solution."""
    return certificates.judge(instance, call(instance))
