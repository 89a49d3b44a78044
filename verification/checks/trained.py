"""The certified gap of a trained model is within what the solver promises, tol."""

import dataclasses
from weakref import WeakKeyDictionary

from verification import models
from verification.instances import datasets
from verification.instances.instance import Instance, literal
from verification.kit.solver_call import Caller, CandidateCrashError, CandidateTimeoutError
from verification.problems.problem import Problem
from verification.verdicts import verify_model
from verification.verdicts.verdict import Judgement, Verdict

ORDER = 15
#: Instances per family.
COUNTS = {"quick": 11, "thorough": 110, "soak": 11}
LARGEST = {"quick": 16, "thorough": 32, "soak": 32}
#: Data sets longer than blocks are, and how many examples they have: of the family of real data.
LONG = {"quick": (3, 70), "thorough": (8, 100), "soak": (1, 70)}
REAL = ("digits", "real data")
#: Data sets with more than 64 columns, and with more than 64 classes where a model has any.
WIDE = {"quick": 4, "thorough": 24, "soak": 1}
MANY = "more than 64 classes"

#: Failures per candidate in which a reason is looked for.
HINTS = 4
_HINTED: WeakKeyDictionary[Caller, int] = WeakKeyDictionary()


def applies(problem: Problem) -> bool:
    """Models."""
    return problem.kind == "models"


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """All families of the model in equal parts, then some long and wide data sets."""
    families = models.load(problem.object_name).families
    count, longest = LONG[profile]
    counts = dict.fromkeys(families, COUNTS[profile]) | {MANY: WIDE[profile]}
    plan = [(name, counts[name], seed, LARGEST[profile]) for name in families]
    plan += [(name, count, seed + 15, longest) for name in REAL if name in families]
    found = [
        instance
        for family, number, own, largest in plan
        for instance in datasets.draw(
            problem.name, family, number, own, largest=largest, fixed=problem.fixed
        )
    ]
    return found + list(datasets.wide(problem, WIDE[profile], seed + 16, LARGEST[profile]))


def examine(call: Caller, instance: Instance) -> Judgement:
    """Train once, certify; of the first failures it is said which other problem they solve."""
    candidate = call(instance)
    judgement = verify_model.judge(instance, candidate)
    quick = instance.family != MANY  # of many classes a hint takes seconds
    if judgement.verdict is Verdict.FAIL and quick and _HINTED.get(call, 0) < HINTS:
        _HINTED[call] = _HINTED.get(call, 0) + 1
        if hint := verify_model.hint(instance, candidate):
            return dataclasses.replace(judgement, message=f"{hint}; {judgement.message}")
    return judgement


def script(call: Caller, instance: Instance, function: str) -> list[str]:
    """The call, what it returned, and a certified pair."""
    lines = [f"print({function}({call.arguments_code(instance.params)}))"]
    if call.problem.fixed:
        built_in = ", ".join(f"{n}={literal(v)}" for n, v in call.problem.fixed.items())
        lines.insert(0, f"# {instance.problem} with {built_in}")
    try:
        lines.append(f"# returned {call.raw(instance.params).plain()}")
    except (CandidateCrashError, CandidateTimeoutError) as error:
        lines.append(f"# raised {error}")
    known = verify_model.witness(instance)
    if known is not None:
        right = {n: v.tolist() for n, v in {**known.primal, **known.dual}.items()}
        lines += [f"# right    {right}", f"# whose gap is {known.certificate.gap:.3g}"]
    return lines
