"""A candidate that offers several methods is right with each of them."""

import functools
import importlib
from dataclasses import replace

from verification import certificates
from verification.failures.shrink import call_lines
from verification.instances.families import draw
from verification.instances.instance import Instance
from verification.kit.signatures import parameters
from verification.kit.solver_call import Caller, NotApplicableError
from verification.problems.problem import Problem
from verification.verdicts.verdict import Judgement, Verdict

ORDER = 45
COUNTS = {"quick": 120, "thorough": 900, "soak": 120}
LARGEST = {"quick": 12, "thorough": 60, "soak": 60}


def applies(problem: Problem) -> bool:
    """Loss-augmented inference, for which the paper has five algorithms."""
    return problem.operation == "loss_augmented_inference"


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """Random, near the optimum, and tied ones in equal parts."""
    count, largest = COUNTS[profile] // 3, LARGEST[profile]
    return [
        instance
        for family in ("random", "planted", "ties")
        for instance in draw(problem.name, family, count, seed + 10, largest=largest)
    ]


def names(call: Caller) -> tuple[str, ...]:
    """``METHODS`` of the module of a candidate that takes a ``method``; NotApplicableError if none."""
    takes = any(p.name == "method" for p in parameters(call.function) or ())
    module = getattr(call.function, "__module__", None)
    found = getattr(importlib.import_module(module), "METHODS", ()) if takes and module else ()
    if not found:
        raise NotApplicableError("the candidate has one method only")
    return tuple(found)


def by(call: Caller, method: str) -> Caller:
    """The same candidate with its ``method`` fixed."""
    return Caller(functools.partial(call.function, method=method), call.problem, call.timeout)


def examine(call: Caller, instance: Instance) -> Judgement:
    """Call once per method; the worst of the passes stands for all."""
    worst = Judgement(Verdict.PASS)
    for method in names(call):
        call.last = answer = by(call, method)(instance)
        judgement = certificates.judge(instance, answer)
        if not judgement.ok:
            message = f"method={method!r}: {judgement.message}"
            return replace(judgement, message=message)
        if (judgement.gap or 0.0) >= (worst.gap or 0.0):
            worst = judgement
    return worst


def script(call: Caller, instance: Instance, function: str) -> list[str]:
    """The first method that failed, as code."""
    for method in names(call):
        one = by(call, method)
        if not certificates.judge(instance, one(instance)).ok:
            right = certificates.ranking.expected_answer(instance)
            lines = call_lines(one, instance.params, function, right)
            return [lines[0][:-2] + f', method="{method}"))', *lines[1:]]
    return []
