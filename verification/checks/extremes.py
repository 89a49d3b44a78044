"""Edges: sizes from 1e-150 to 1e150, denormal numbers, sums missed by a bit or by a tolerance, real scores."""

from __future__ import annotations

from verification import certificates
from verification.checks import amount
from verification.instances.families import draw
from verification.instances.instance import Instance
from verification.kit.calling import Caller
from verification.problems.problem import Problem
from verification.verdicts.verdict import Judgement

ORDER = 38
COUNTS = {"quick": 150, "thorough": 1500}
FAMILIES = ("extreme", "denormal", "border", "real", "close")


def applies(problem: Problem) -> bool:
    """Every operation on single vectors and rankings."""
    return problem.kind != "models"


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """The five families in equal parts."""
    count = amount(problem, COUNTS[profile]) // len(FAMILIES)
    return [
        instance for family in FAMILIES for instance in draw(problem.name, family, count, seed + 11)
    ]


def examine(call: Caller, instance: Instance) -> Judgement:
    """Call once, compare with the exact solution."""
    return certificates.judge(instance, call(instance))
