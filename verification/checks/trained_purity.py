"""Training leaves the data as they are, and depends on nothing but the arguments."""

from dataclasses import replace

import numpy as np

from verification import models
from verification.instances import datasets
from verification.instances.instance import Instance, literal
from verification.kit.solver_call import Caller, CandidateCrashError
from verification.problems.problem import Problem
from verification.verdicts import verify_model
from verification.verdicts.verdict import Judgement, Verdict

ORDER = 52
COUNTS = {"quick": 11, "thorough": 55, "soak": 11}
LARGEST = 16


def applies(problem: Problem) -> bool:
    """Models."""
    return problem.kind == "models"


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """Of the first family; not those of the check `trained`."""
    family = next(iter(models.load(problem.object_name).families))
    return datasets.draw(
        problem.name, family, COUNTS[profile], seed + 6, largest=LARGEST, fixed=problem.fixed
    )


def _other(instance: Instance) -> Instance:
    """The same shapes, other data: the first array turned round and negated."""
    for name, value in instance.params.items():
        if isinstance(value, np.ndarray) and value.dtype.kind == "f":
            changed = instance.with_params(**{name: -value[::-1]})
            return changed if datasets.valid(changed) else instance
    return instance


def _data(instance: Instance) -> str:
    return next(n for n, v in instance.params.items() if isinstance(v, np.ndarray))


def _by_columns(call: Caller, instance: Instance) -> Judgement:
    """The same matrices in Fortran order, as a data frame has them; who refuses them is not wrong."""
    if hasattr(call.function, "deaths"):  # arrays go to a process as copies
        return Judgement(Verdict.PASS)
    params = instance.params
    for name, value in params.items():
        if np.ndim(value) == 2:
            params[name] = np.asfortranarray(value)
    try:
        judgement = verify_model.judge(instance, call.raw(params))
    except CandidateCrashError:
        return Judgement(Verdict.PASS)
    if judgement.verdict is not Verdict.FAIL:
        return Judgement(Verdict.PASS)
    message = f'wrong where the matrices have order="F": {judgement.message}'
    return replace(judgement, message=message)


def script(call: Caller, instance: Instance, function: str) -> list[str]:
    """Four calls; the first argument and the first answer are shown again after three of them."""
    name = _data(instance)
    again = f"{function}({call.arguments_code(instance.params, {name: name})})"
    columns = {
        n: f"np.asfortranarray({name if n == name else literal(v)})"
        for n, v in instance.params.items()
        if np.ndim(v) == 2
    }
    return [
        f"{name} = {literal(instance[name])}",
        f"model = {again}",
        "print(model)",
        f"{function}({call.arguments_code(_other(instance).params)})",
        f"print(model, {again})  # the same three times?",
        f"print({name})  # as above?",
        f"print({function}({call.arguments_code(instance.params, columns)}))  # the same matrices",
    ]


def examine(call: Caller, instance: Instance) -> Judgement:
    """Train, train on something else, train again: inputs and the first answer as they were."""
    call(instance)  # says whether the instance applies; and the first call may set state
    params = instance.params
    answer = call.raw(params)
    parts = {name: np.asarray(v) for name, v in answer.parts.items()}
    for name, before in instance.params.items():
        if not isinstance(before, np.ndarray):
            continue
        if before.tobytes() != params[name].tobytes():
            return Judgement(Verdict.FAIL, message=f"{name} was changed in place")
        for part, value in parts.items():
            if np.shares_memory(value, params[name]):
                message = f"the answer {part} is a view of the input {name}"
                return Judgement(Verdict.FAIL, message=message)
    copies = {name: value.copy() for name, value in parts.items()}
    judgement = verify_model.judge(instance, answer)
    if not judgement.ok:
        return judgement
    call(_other(instance))
    for name, value in parts.items():
        if value.tobytes() != copies[name].tobytes():
            message = f"a later call overwrote the answer {name}"
            return Judgement(Verdict.FAIL, message=message)
    judgement = verify_model.judge(instance, call(instance))
    if judgement.verdict is Verdict.FAIL:
        message = f"trained again after other data: {judgement.message}"
        return Judgement(Verdict.FAIL, message=message, terms=judgement.terms)
    columns = _by_columns(call, instance)
    return judgement if columns.ok else columns
