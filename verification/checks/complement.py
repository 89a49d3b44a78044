"""1 - s, returned by itself, is right relatively: also where s rounds to 1."""

import numpy as np

from verification import certificates
from verification.certificates.text import brief
from verification.checks._plain import in_parts
from verification.instances.instance import Instance
from verification.kit.solver_call import (
    Caller,
    CandidateCrashError,
    CandidateTimeoutError,
    NotApplicableError,
)
from verification.problems.problem import Problem
from verification.verdicts.verdict import Candidate, Judgement, Verdict

ORDER = 37
COUNTS = {"quick": 180, "thorough": 1200}


def applies(problem: Problem) -> bool:
    """Points of the entropies of the other classes: gradient, prox and update."""
    return problem.generator.complement == "sum" and problem.point


instances = in_parts(COUNTS, "random", "saturated", "scales", offset=10)


def examine(call: Caller, instance: Instance) -> Judgement:
    """Call with ``return_complement=True``; the answer must be the same, and 1 - s right."""
    if not call.complements:
        raise NotApplicableError("the candidate takes no return_complement")
    plain = call(instance).x
    both = call.raw(instance.params, complement=True)
    if both.complement is None or np.size(both.complement) != 1:
        message = "return_complement=True: expected a pair (answer, 1 - s) with one number"
        return Judgement(Verdict.FAIL, message=message)
    if not np.array_equal(plain, both.x):
        message = f"{brief(both.x)} with return_complement, {brief(plain)} without"
        return Judgement(Verdict.FAIL, message=message)
    complement = float(np.asarray(both.complement).ravel()[0])
    if not np.isfinite(complement):
        return Judgement(Verdict.FAIL, message=f"1 - s = {complement!r}, expected a number")
    # rounding may end a little outside of [0, 1]: how far is for the certificate to say
    return certificates.judge(instance, Candidate(both.x, complement=complement))


def script(call: Caller, instance: Instance, function: str) -> list[str]:
    """One call that returns the pair."""
    arguments = call.arguments_code(instance.params)
    lines = [f"print({function}({arguments}, return_complement=True))"]
    try:
        returned = call.raw(instance.params, complement=True)
        lines.append(f"# returned {brief(returned.x)}, {np.asarray(returned.complement).tolist()}")
    except (CandidateCrashError, CandidateTimeoutError) as error:
        lines.append(f"# raised {error}")
    right = certificates.expected(instance)
    if right is None or not instance.problem.convex:
        return lines
    rest = certificates.entropy_points.solution(certificates.core.curved_core(instance))
    return [*lines, f"# right    {brief(right)}, {float(rest.complement[0])!r}"]
