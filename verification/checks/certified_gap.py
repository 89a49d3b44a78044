"""The gap at the repaired answer is within its rounding-error bound; no solver is asked."""

from __future__ import annotations

from verification import certificates
from verification.checks import amount
from verification.instances.families import draw
from verification.instances.instance import Instance
from verification.kit.calling import Caller
from verification.problems.problem import Problem
from verification.verdicts.verdict import Judgement

ORDER = 10
COUNTS = {"quick": 150, "thorough": 1200, "soak": 150}
LARGEST = {"quick": 12, "thorough": 40, "soak": 40}


def applies(problem: Problem) -> bool:
    """Every operation whose answer is a point."""
    return problem.point


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """Random ones."""
    count, largest = amount(problem, COUNTS[profile]), LARGEST[profile]
    return draw(problem.name, "random", count, seed, largest=largest)


def examine(call: Caller, instance: Instance) -> Judgement:
    """Call once, certify."""
    return certificates.certify(instance, call(instance))
