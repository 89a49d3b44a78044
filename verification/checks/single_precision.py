"""float32 input gives an answer within the rounding-error bound of float32."""

import re

import numpy as np

from verification import certificates
from verification.certificates import entropy_numbers
from verification.checks._plain import in_parts, on_vectors
from verification.instances.drawing import on_grid, valid
from verification.instances.instance import Instance
from verification.kit.solver_call import Caller, CandidateCrashError, NotApplicableError
from verification.problems.problem import Problem
from verification.verdicts.verdict import Judgement

ORDER = 70
COUNTS = {"quick": 60, "thorough": 400}
# Words by which functions, tensors and compiled signatures say that a dtype does not fit. An error
# without them, such as that of a logarithm of what float32 made negative, is a crash.
REFUSAL = re.compile(r"float32|float64|double|dtype|precision", re.IGNORECASE)


applies = on_vectors
_drawn = in_parts(COUNTS, "random", "ties", "scales", offset=2)


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """Random, tied and scaled instances, rounded to float32; not those whose arguments fit no more.

    Rounding moves points out of a domain of equations: every other one is in it exactly.
    """
    drawn = _drawn(problem, profile, seed)
    if problem.labels and problem.operation == "conjugate":
        drawn[::2] = map(_inside, drawn[::2])
    rounded = [instance.astype(np.float32) for instance in drawn]
    return [instance for instance in rounded if valid(instance)]


def _inside(instance: Instance) -> Instance:
    """The point on a grid that float32 holds, if that is in the domain."""
    made = instance.with_params(x=on_grid(instance["x"], instance["y"], instance.problem))
    return made if entropy_numbers.violation(made) == 0 else instance


def examine(call: Caller, instance: Instance) -> Judgement:
    """Call once; the tolerance follows the dtype of the input.

    Who takes double precision only and says so is not wrong: skipped, and counted as that.
    """
    try:
        answer = call(instance)
    except CandidateCrashError as error:
        if not REFUSAL.search(str(error)):
            raise
        call(instance.astype(np.float64))
        raise NotApplicableError(f"the candidate takes no float32 ({error})") from error
    return certificates.judge(instance, answer)
