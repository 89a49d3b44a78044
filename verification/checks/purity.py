"""Inputs stay as they are, and an answer depends on nothing but the arguments."""

from dataclasses import replace
from typing import Any

import numpy as np

from verification import certificates
from verification.certificates.text import brief, change
from verification.checks._plain import in_parts, on_vectors
from verification.instances.instance import Instance, literal
from verification.kit.solver_call import Caller, CandidateCrashError
from verification.verdicts.verdict import Candidate, Judgement, Verdict

ORDER = 50
COUNTS = {"quick": 30, "thorough": 150}


applies = on_vectors


#: None of them is sorted in advance.
instances = in_parts(COUNTS, "random", "ties", offset=6)


def _disturbance(instance: Instance) -> Instance:
    """Another instance of the same shape, with a clearly different answer."""
    name = instance.problem.data
    return instance.with_params(**{name: -3 * instance[name][::-1] + 1})


def _changed(params: dict[str, Any], instance: Instance) -> str | None:
    for name, before in instance.params.items():
        after = params[name]
        if isinstance(before, np.ndarray) and before.tobytes() != after.tobytes():
            return f"{name} was changed in place from {change(before, after)}"
    return None


def _in_steps(call: Caller, instance: Instance, usual: np.ndarray) -> Judgement:
    """The same numbers, of which only every other one in memory belongs to the array.

    Who gives the ``usual`` answer, or is wrong anyway, is a case for other checks. Who refuses such
    an array says so; who reads the memory as it comes is wrong without a word. To a process of its
    own, arrays go as copies.
    """
    if hasattr(call.function, "deaths"):
        return Judgement(Verdict.PASS)
    params = instance.params
    for name, value in params.items():
        if isinstance(value, np.ndarray):
            params[name] = np.repeat(value, 2)[::2]
    try:
        answer = call.raw(params)
    except CandidateCrashError:
        return Judgement(Verdict.PASS)
    if answer.x.shape == usual.shape and answer.x.tobytes() == usual.tobytes():
        return Judgement(Verdict.PASS)
    return _wrong(instance, answer, usual, "the arrays are np.repeat(a, 2)[::2]")


def _wrong(instance: Instance, answer: Candidate, usual: np.ndarray, where: str) -> Judgement:
    """A failure where the answer is wrong and the ``usual`` one is right."""
    judgement = certificates.judge(instance, answer)
    if (
        judgement.verdict is not Verdict.FAIL
        or not certificates.judge(instance, Candidate(usual)).ok
    ):
        return Judgement(Verdict.PASS)
    return replace(judgement, message=f"wrong where {where}: {judgement.message}")


def _of_integers(call: Caller, instance: Instance) -> Judgement:
    """Whole numbers as floats and as integers: who makes its arrays like the input cuts off fractions.

    Who refuses integers says so.
    """
    name = instance.problem.data
    main = instance[name]
    if instance.operation == "conjugate" or np.ndim(main) == 0 or np.abs(main).max() > 2**50:
        return Judgement(Verdict.PASS)
    whole = instance.with_params(**{name: np.rint(main) + 0.0})
    usual = np.array(call(whole).x)
    params = whole.params
    params[name] = params[name].astype(np.int64)
    try:
        answer = call.raw(params)
    except CandidateCrashError:
        return Judgement(Verdict.PASS)
    return _wrong(whole, answer, usual, f"{name} is an array of integers, {name}.astype(int)")


def _other_arrays(call: Caller, instance: Instance, usual: np.ndarray) -> Judgement:
    judgement = _in_steps(call, instance, usual)
    return judgement if not judgement.ok else _of_integers(call, instance)


def _refusable(called: str, why: str) -> list[str]:
    """A call that may end in an error of the solver's own, which is no fault."""
    return [
        "try:",
        f"    print({called})  # {why}",
        "except Exception as error:",
        '    print("refused, which is no fault:", error)',
    ]


def script(call: Caller, instance: Instance, function: str) -> list[str]:
    """Four calls, and after each what it must have left as it was; True where the solver is pure."""
    name = instance.problem.data
    arrays = {n: v for n, v in instance.params.items() if isinstance(v, np.ndarray)}
    own = {n: n for n in arrays}
    again = f"{function}({call.arguments_code(instance.params, own)})"
    other = call.arguments_code(instance.params, own | {name: f"-3 * {name}[::-1] + 1"})
    steps = call.arguments_code(instance.params, {n: f"np.repeat({n}, 2)[::2]" for n in arrays})
    whole = call.arguments_code(instance.params, own | {name: f"np.rint({name}).astype(int)"})
    floats = call.arguments_code(instance.params, own | {name: f"np.rint({name})"})
    lines = [f"{n} = {literal(v)}" for n, v in arrays.items()]
    listed, ranked = ", ".join(arrays), instance.problem.ranking
    same = "print(x, first)" if ranked else "print(np.array_equal(x, first, equal_nan=True))"
    lines += [
        f"before = [each.copy() for each in ({listed},)]",
        f"x = {again}",
        f"print(all(map(np.array_equal, ({listed},), before)))  # False: the input was changed",
    ]
    if not ranked:
        lines.append(
            f"print(not any(np.shares_memory(x, each) for each in ({listed},)))"
            "  # False: the answer is a view of the input"
        )
    return [
        "import copy",
        "",
        *lines,
        f"{listed}, = [each.copy() for each in before]",
        "first = copy.deepcopy(x)",
        f"{function}({other})",
        f"{same}  # {'they differ' if ranked else 'False'}: a later call overwrote the answer",
        f"x = {again}",
        f"{same}  # {'they differ' if ranked else 'False'}: the answer depends on earlier calls",
        *_refusable(f"{function}({steps})", "not the same arrays in memory, and equal to them:"),
        "print(first)",
        *_refusable(f"{function}({whole})", "of integers, and equal to them as floats:"),
        f"print({function}({floats}))",
    ]


def examine(call: Caller, instance: Instance) -> Judgement:
    """Call, call with something else, call again: same bits, or both certified."""
    call(instance)  # says whether the instance applies; and the first call may set state
    params = instance.params
    answer = call.raw(params)
    first = answer.x
    if message := _changed(params, instance):
        return Judgement(Verdict.FAIL, message=message)
    if any(isinstance(v, np.ndarray) and np.shares_memory(first, v) for v in params.values()):
        return Judgement(Verdict.FAIL, message="the answer is a view of the input")
    parts = [first] if answer.counts is None else [first, np.asarray(answer.counts)]
    copies = [part.copy() for part in parts]
    kept = copies[0]
    call(_disturbance(instance))
    for now, before in zip(parts, copies, strict=True):
        if now.tobytes() != before.tobytes():
            message = f"a later call overwrote the answer: {change(before, now)}"
            return Judgement(Verdict.FAIL, message=message)
    second = call(instance).x
    if second.shape == kept.shape and second.tobytes() == kept.tobytes():
        return _other_arrays(call, instance, kept)
    # threads may sum in another order: both answers may differ by rounding, and only by that
    for answer in (kept, second):
        judgement = certificates.judge(instance, Candidate(answer))
        if not judgement.ok:
            message = (
                f"the same call gave {brief(kept)} and, after another call, {brief(second)}: "
                f"{judgement.message}"
            )
            return Judgement(judgement.verdict, message=message, terms=judgement.terms)
    return _other_arrays(call, instance, kept)
