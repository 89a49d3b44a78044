"""Values and gradients attain equality in Fenchel–Young at an exactly certified dual point."""

from __future__ import annotations

from verification import certificates
from verification.checks import amount
from verification.instances.families import draw
from verification.instances.instance import Instance
from verification.kit.calling import Caller
from verification.problems.problem import Problem
from verification.verdicts.verdict import Judgement

ORDER = 20
COUNTS = {"quick": 120, "thorough": 900, "soak": 120}
LARGEST = {"quick": 10, "thorough": 40, "soak": 40}


def applies(problem: Problem) -> bool:
    """Losses: value and gradient."""
    return problem.kind == "losses" and problem.operation in ("value", "gradient")


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """Random and adversarial ones."""
    count, largest = amount(problem, COUNTS[profile]) // 2, LARGEST[profile]
    return [
        instance
        for family in ("random", "adversarial")
        for instance in draw(problem.name, family, count, seed + 3, largest=largest)
    ]


def examine(call: Caller, instance: Instance) -> Judgement:
    """Call once; a value is compared with <z,x> − conjugate(x), a gradient is taken for that x."""
    return certificates.certify(instance, call(instance))
