"""What most checks are made of: instances of some families in equal parts, and one call that is judged."""

from collections.abc import Callable, Mapping

from verification import certificates
from verification.checks import amount
from verification.instances.families import draw
from verification.instances.instance import Instance
from verification.kit.solver_call import Caller
from verification.problems.problem import Problem
from verification.verdicts.verdict import Judgement


def on_vectors(problem: Problem) -> bool:
    """Every operation on vectors, and every ranking."""
    return problem.kind != "models"


def in_parts(
    counts: Mapping[str, int],
    *families: str,
    offset: int = 0,
    largest: Mapping[str, int] | None = None,
) -> Callable[[Problem, str, int], list[Instance]]:
    """The ``instances`` of a check: ``counts`` of the profile, shared equally among the families.

    ``offset`` is added to the seed, so that checks of the same families see other instances;
    ``largest`` bounds the sizes by profile.
    """

    def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
        count = amount(problem, counts[profile]) // len(families)
        sizes = {} if largest is None else {"largest": largest[profile]}
        return [
            instance
            for family in families
            for instance in draw(problem.name, family, count, seed + offset, **sizes)
        ]

    return instances


def judged(call: Caller, instance: Instance) -> Judgement:
    """Call once, compare with the exact solution."""
    return certificates.judge(instance, call(instance))


def certified(call: Caller, instance: Instance) -> Judgement:
    """Call once, certify."""
    return certificates.certify(instance, call(instance))
