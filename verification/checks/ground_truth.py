"""The answer is the exact solution up to rounding; that one certifies itself with gap zero."""

from __future__ import annotations

from verification import certificates
from verification.checks import amount
from verification.instances.families import draw
from verification.instances.instance import Instance
from verification.kit.calling import Caller
from verification.problems.problem import Problem
from verification.verdicts.verdict import Judgement

ORDER = 20
COUNTS = {"quick": 300, "thorough": 2400, "soak": 300}
LARGEST = {"quick": 10, "thorough": 40, "soak": 40}


def applies(problem: Problem) -> bool:
    """Operations whose answer is a point, functions, and rankings, which are judged by their objective.

    Gradients of hinges are not unique.
    """
    if problem.kind == "functions" or problem.ranking:
        return True
    return problem.point and (problem.unique or not problem.convex)


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """Random, planted and adversarial ones in equal parts."""
    count, largest = amount(problem, COUNTS[profile]) // 3, LARGEST[profile]
    return [
        instance
        for family in ("random", "planted", "adversarial")
        for instance in draw(problem.name, family, count, seed + 1, largest=largest)
    ]


def examine(call: Caller, instance: Instance) -> Judgement:
    """Call once, measure the distance."""
    return certificates.judge(instance, call(instance))
