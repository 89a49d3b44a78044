"""A batch of rows is judged row by row: each must be what the row alone would be."""

import contextlib
from dataclasses import replace
from typing import Any

import numpy as np

from verification import certificates
from verification.certificates import tolerance
from verification.checks import amount
from verification.failures.shrink import call_lines
from verification.instances.drawing import valid
from verification.instances.families import draw
from verification.instances.instance import Instance
from verification.kit.solver_call import (
    Caller,
    CandidateCrashError,
    CandidateError,
    CandidateTimeoutError,
    NotApplicableError,
)
from verification.problems.problem import Problem
from verification.verdicts import accuracy_contract
from verification.verdicts.verdict import Candidate, Judgement, Verdict

ORDER = 60
COUNTS = {"quick": 30, "thorough": 150}

# Rows of the batches that start from an instance of this family: more than a warp, or a tile, has.
MANY, LONG = 40, "ties"
# Rows that a candidate is tried on: the instance, a duplicate, and one that differs.
PROBED = 3
# Where it errs there: rows that fill blocks of many widths.
FULL = (64, 2520)
# Accuracy of an answer that counts as one for a batch.
DIGITS = 1e-3


def applies(problem: Problem) -> bool:
    """Every operation on vectors; not rankings, whose rows would be queries of unequal lengths."""
    return problem.kind != "models" and not problem.ranking


def instances(problem: Problem, profile: str, seed: int) -> list[Instance]:
    """The instances are the first rows, random and at the edges; `rows` makes the others."""
    count = amount(problem, COUNTS[profile]) // 2
    return [
        instance
        for family, number in (("random", count), ("border", count), (LONG, max(1, count // 8)))
        for instance in draw(problem.name, family, number, seed + 7)
    ]


def rows(instance: Instance) -> list[Instance]:
    """The instance, and variations of it that share k, gamma, t, C and the costs."""
    name = instance.problem.data
    main = instance[name]
    found = [instance]
    # the first of these is a duplicate
    others = [main, main[::-1], main / 2, np.zeros_like(main), 2 * main]
    if instance.family == LONG:
        others += [np.roll(main, i) * 2.0 ** (i % 3 - 1) for i in range(len(others) + 1, MANY)]
    for i, other in enumerate(others):
        changes: dict[str, Any] = {name: np.ascontiguousarray(other)}
        if instance.get("y") is not None and instance.get("costs") is None:
            y = instance["y"]
            changes["y"] = np.roll(y, i) if np.ndim(y) else (y + i) % main.size
        if instance.get("k_ii"):
            changes["k_ii"] = instance["k_ii"] * (1 + i)
        found.append(instance.with_params(**changes))
    return found


def vary(found: list[Instance]) -> list[Instance]:
    """The same rows with a radius, a rho and a weight of their own."""
    varied = []
    for i, row in enumerate(found):
        problem = row.problem
        changes = {}
        for name in problem.named(rows="may"):
            optional = problem.defaults.get(name, ...) is None  # a weight
            changes[name] = 0.5 + i if optional else row[name] * (1 + i)
        other = row.with_params(**changes) if changes else row
        varied.append(other if valid(other) else row)
    return varied


def stack(found: list[Instance], *rows: str) -> dict[str, Any]:
    """One set of arguments for all rows; those of which there is one per row, see `Symbol.rows`."""
    problem = found[0].problem
    name, per_row = problem.data, [n for kind in rows for n in problem.named(rows=kind)]
    params = found[0].params
    params[name] = np.stack([row[name] for row in found])
    for other in per_row:
        if params.get(other) is not None:
            params[other] = np.array([row[other] for row in found])
    return params


def examine(call: Caller, instance: Instance) -> Judgement:
    """Calls for all rows with shared parameters, with a radius, rho and weight per row, for one row.

    Of many rows there is one more, with the same numbers in Fortran order; a function is asked for a
    number, too.
    """
    call(instance)
    if call.batch is None:
        call.batch = takes_batches(call)
    if not call.batch:
        raise NotApplicableError("the candidate takes single vectors only")
    return _examine(call, instance)[0]


def _examine(call: Caller, instance: Instance) -> tuple[Judgement, list[Instance], dict[str, Any]]:
    """The verdict, with the rows and the arguments of the call that it is about."""
    found = rows(instance)
    unweighted, varied = [_without_weight(row) for row in found], vary(found)
    trials = [(unweighted, stack(unweighted, "always"))]
    if varied != found and call.accepts(varied[-1]) and call.per_row is not False:
        trials.append((varied, stack(varied, "always", "may")))
    trials.append((unweighted[:1], stack(unweighted[:1], "always")))
    judgements = []
    for some, params in trials:
        judgements.append(_judge_rows(some, _answers(call, some, params)))
        if not judgements[-1].ok:
            return judgements[-1], some, params
    if call.problem.kind == "functions" and not hasattr(call.function, "deaths"):
        number = {**instance.params, call.problem.data: float(instance[call.problem.data][0])}
        with contextlib.suppress(CandidateCrashError, NotApplicableError):  # not wrong, either
            shape = _answers(call, found[:1], number).shape
            if shape:
                message = f"shape {shape} for a number, expected ()"
                return Judgement(Verdict.FAIL, message=message), found[:1], number
    if instance.family == LONG and not hasattr(call.function, "deaths"):
        columns = trials[0][1] | {
            call.problem.data: np.asfortranarray(trials[0][1][call.problem.data])
        }
        with contextlib.suppress(CandidateCrashError):  # who refuses them is not wrong
            judged = _judge_rows(unweighted, _answers(call, unweighted, columns))
            if judged.verdict is Verdict.FAIL:
                return judged, unweighted, columns
    return max(judgements, key=_share), *trials[0]


def script(call: Caller, instance: Instance, function: str) -> list[str]:
    """The batch that failed, as code."""
    try:
        _, found, params = _examine(call, instance)
    except CandidateError as error:
        asked, params = error.asked or ((), {})  # see `_answers`
        found = list(asked)
    right = [certificates.expected(row) for row in found]  # of every row of the call
    known = None if any(r is None for r in right) else np.stack(right)  # type: ignore[arg-type]
    if known is not None and not np.ndim(params[call.problem.data]):
        known = known.ravel()[0]
    return call_lines(call, params, function, known)


def _answers(call: Caller, found: list[Instance], params: dict[str, Any]) -> np.ndarray:
    """What is returned for a batch; an error says which one it is about."""
    try:
        return np.asarray(call.raw(params).x)
    except CandidateError as error:
        error.asked = tuple(found), params
        raise


def takes_batches(call: Caller) -> bool:
    """Try small batches, on which a function of single vectors hardly ever does right.

    Two rows are equal and one differs: a function that flattens them and drops what is repeated would do
    right on equal rows. What is hard for a batch (zero rows, numbers per row) is left to the check, and so
    are its digits.
    """
    tried, promised = 0, accuracy_contract.current()
    for instance in draw(call.problem.name, "random", 40, seed=0):
        if instance[call.problem.data].size < 3 or not call.accepts(instance):
            continue
        few = [_without_weight(row) for row in rows(instance)[:PROBED]]
        try:
            answer = call.raw(stack(few, "always")).x
        except (CandidateCrashError, CandidateTimeoutError, NotApplicableError):
            return False
        with accuracy_contract.held(lambda: max(DIGITS, promised or 0.0)):
            if not _judge_rows(few, answer).ok:
                # a function's argument has any shape
                return call.problem.kind == "functions" or _takes_many(call, few)
        if call.per_row is None:
            call.per_row = _takes_rows(call, few)
        tried += 1
    return tried > 0


def _takes_rows(call: Caller, few: list[Instance]) -> bool | None:
    """Whether a batch may have a radius per row: np.clip(a, 0, r) raises an error, and is no worse for it."""
    varied = vary(few)
    if (
        varied == few
        or not call.accepts(varied[-1])
        or len(few) == few[0][few[0].problem.data].size
    ):
        return None
    try:
        call.raw(stack(varied, "always", "may"))
    except (CandidateCrashError, CandidateTimeoutError, NotApplicableError):
        return False
    return True


def _takes_many(call: Caller, few: list[Instance]) -> bool:
    """Whether full blocks of these rows come out right: whoever errs in three then takes batches, wrongly."""
    for rows in FULL:
        found = [few[i % len(few)] for i in range(rows)]
        try:
            answer = np.asarray(call.raw(stack(found, "always")).x)
        except (CandidateCrashError, CandidateTimeoutError, NotApplicableError):
            return False
        if answer.shape[:1] == (rows,) and _judge_rows(few, answer[: len(few)]).ok:
            return True
    return False


def _without_weight(row: Instance) -> Instance:
    return row.with_params(sample_weight=None) if row.get("sample_weight") else row


def _judge_rows(found: list[Instance], answers: np.ndarray) -> Judgement:
    if answers.ndim == 0 or len(answers) != len(found):
        message = f"shape {answers.shape} for a batch of {len(found)} row{'s'[: len(found) > 1]}"
        return Judgement(Verdict.FAIL, message=message, rows=tuple(found))
    pairs = zip(found, answers, strict=True)
    judged = [certificates.judge(row, Candidate(answer)) for row, answer in pairs]
    for i, judgement in enumerate(judged):
        if not judgement.ok:
            d = int(np.size(found[i][found[i].problem.data]))
            relative = tolerance.relative(found[i], d)
            needed = max(each.least_promise(relative) or 0.0 for each in judged)
            message = f"row {i} of a batch of {len(found)}: {judgement.message}"
            return replace(judgement, message=message, rows=tuple(found), accuracy=needed)
    return max(judged, key=_share)


def _share(judgement: Judgement) -> float:
    return judgement.ratio or 0.0
