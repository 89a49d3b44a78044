"""An answer has no memory: neighbours of an instance are asked for in turn, and two of one shape many times.

What a table of answers holds under a rounded key is right for the first of two neighbours; what is taken
over from the call before, once in a thousand calls, is right in every check that judges single calls.
"""

import time

import numpy as np

from verification import certificates
from verification.checks import amount
from verification.checks._plain import on_vectors
from verification.instances.families import draw
from verification.instances.instance import Instance, literal
from verification.kit.solver_call import Caller, NotApplicableError
from verification.problems.problem import Problem
from verification.verdicts.verdict import Candidate, Judgement, Verdict

ORDER = 52
COUNTS = {"quick": 9, "thorough": 30}
#: By how much of itself a neighbour differs in every entry.
APART = (1e-3, 1e-5, 1e-7, 1e-9, 1e-11)
#: Calls of the last instance, and the seconds of CPU that they may take, by the fastest of the first few.
CALLS, SECONDS, TRIED = {"quick": 2200, "thorough": 9000}, {"quick": 2.0, "thorough": 10.0}, 4
MANY = "many calls"

applies = on_vectors


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """Random ones; the last is for the many calls."""
    count = amount(problem, COUNTS[profile])
    found = draw(problem.name, "random", 4 * count, seed + 21)
    found = [i for i in found if np.size(i[problem.data]) > 1 and np.any(i[problem.data])][:count]
    return [*found[:-1], Instance(problem, f"{MANY}: {CALLS[profile]}", found[-1].items)]


def neighbour(instance: Instance, step: float) -> Instance:
    """The instance with every entry moved by so much of itself, up and down by turns."""
    name = instance.problem.data
    main = instance[name]
    signs = np.where(np.arange(np.size(main)).reshape(np.shape(main)) % 2, -1.0, 1.0)
    if instance.operation == "conjugate":
        signs = -np.abs(signs)  # inside stays inside
    return instance.with_params(
        **{name: (main * (1 + step * signs)).astype(np.asarray(main).dtype)}
    )


def examine(call: Caller, instance: Instance) -> Judgement:
    """Neighbours, each judged; or many calls by turns, each of which must give what the first gave."""
    if instance.family.startswith(MANY):
        return _many(call, instance, int(instance.family.rpartition(" ")[2]))
    call(instance)
    for step in APART:
        near = neighbour(instance, step)
        judged = certificates.judge(near, call(near))
        if not judged.ok:
            return judged
    return judged


def _many(call: Caller, instance: Instance, count: int) -> Judgement:
    pair = [instance, neighbour(instance, 0.25)]
    clock = time.perf_counter if hasattr(call.function, "deaths") else time.process_time
    limit = SECONDS["quick" if count == CALLS["quick"] else "thorough"]
    first, least = [np.array(call(each).x) for each in pair], np.inf
    for i in range(count):
        start = clock()
        got = np.asarray(call(pair[i % 2]).x)
        least = min(least, clock() - start)
        if i == TRIED and least * count > limit:
            raise NotApplicableError(f"left out: {count} calls may take {least * count:.2g} s")
        if got.shape != first[i % 2].shape or got.tobytes() != first[i % 2].tobytes():
            judged = certificates.judge(pair[i % 2], Candidate(got))
            if not judged.ok:
                message = f"call {i + 3} of {count + 2}, two instances by turns: {judged.message}"
                return Judgement(Verdict.FAIL, message=message, terms=judged.terms)
    return certificates.judge(instance, Candidate(first[0]))


def script(call: Caller, instance: Instance, function: str) -> list[str]:
    """The calls that lead to the wrong answer: the last one alone is right."""
    name = instance.problem.data
    given = call.arguments_code(instance.params, {name: name})
    second = call.arguments_code(instance.params, {name: "near"})
    lines = [f"{name} = {literal(instance[name])}"]
    signs = f"np.where(np.arange({name}.size).reshape({name}.shape) % 2, -1.0, 1.0)"
    signs = f"-np.abs({signs})" if instance.operation == "conjugate" else signs
    if instance.family.startswith(MANY):
        return [
            *lines,
            f"near = {name} * (1 + 0.25 * {signs})",
            f"first = {function}({given}), {function}({second})",
            f"for i in range({instance.family.rpartition(' ')[2]}):",
            f"    x = {function}({second}) if i % 2 else {function}({given})",
            "    if not np.array_equal(x, first[i % 2]):",
            "        print(i, x, first[i % 2])  # the same arguments",
        ]
    return [
        *lines,
        f"for step in (0.0, *{APART}):",
        f"    near = {name} * (1 + step * {signs})",
        f"    print({function}({second}))  # alone, each of these calls is right",
    ]
