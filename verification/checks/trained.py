"""The certified gap of a trained model is within what the solver promises, tol."""

from __future__ import annotations

from verification import models
from verification.calling import Caller, CandidateCrashError, CandidateTimeoutError
from verification.instances import Instance
from verification.models import _judge
from verification.problems import Problem
from verification.verdicts import Judgement

ORDER = 15
#: Instances per family.
COUNTS = {"quick": 11, "thorough": 110, "soak": 110}
LARGEST = {"quick": 16, "thorough": 32, "soak": 32}


def applies(problem: Problem) -> bool:
    """Models."""
    return problem.kind == "models"


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """All families of the model in equal parts."""
    return [
        instance
        for family in models.load(problem.stem).FAMILIES
        for instance in models.draw(
            problem.name,
            family,
            COUNTS[profile],
            seed,
            largest=LARGEST[profile],
            fixed=problem.fixed,
        )
    ]


def examine(call: Caller, instance: Instance) -> Judgement:
    """Train once, certify."""
    return _judge.judge(instance, call(instance))


def script(call: Caller, instance: Instance, function: str) -> list[str]:
    """The call, what it returned, and a certified pair."""
    lines = [f"print({function}({call.arguments_code(instance.params)}))"]
    try:
        lines.append(f"# returned {call.raw(instance.params).plain()}")
    except (CandidateCrashError, CandidateTimeoutError) as error:
        lines.append(f"# raised {error}")
    known = _judge.witness(instance)
    if known is not None:
        right = {n: v.tolist() for n, v in {**known.primal, **known.dual}.items()}
        lines += [f"# right    {right}", f"# whose gap is {known.certificate.gap:.3g}"]
    return lines
