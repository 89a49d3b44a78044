"""float32 input gives an answer within the rounding-error bound of float32."""

import re

import numpy as np

from verification import certificates
from verification.checks._plain import in_parts, on_vectors
from verification.instances.drawing import valid
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
    """Random, tied and scaled instances, rounded to float32; not those whose arguments fit no more."""
    rounded = [instance.astype(np.float32) for instance in _drawn(problem, profile, seed)]
    return [instance for instance in rounded if valid(instance)]


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
