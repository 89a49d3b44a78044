"""Judges one submission: by the checks of the kit, or by the exercise itself."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from verification.errors import CandidateSignatureError, InvalidArgumentError
from verification.exercises import Exercise, find
from verification.external import External
from verification.external.isolation import Isolated
from verification.failures.shrink import call_lines
from verification.instances.instance import Instance
from verification.kit.loop import check_run, verify
from verification.kit.solver_call import (
    Caller,
    CandidateError,
    CandidateTimeoutError,
    NotApplicableError,
)
from verification.verdicts.report import Report
from verification.verdicts.verdict import Judgement, Result, Verdict

#: Seconds per call; the first one has more time.
TIMEOUT = 5.0


class Handed(Isolated):
    """A handed-in Python file in a process of its own."""

    server = (sys.executable, "-m", "verification.grading.serve")
    imports = 30.0

    @property
    def allowance(self) -> float:
        """Time to compile for the first call; a loop without an end should not cost a minute."""
        return min(super().allowance, TIMEOUT)


@dataclass(frozen=True)
class Mark:
    """What came of one submission: a report, or why there is nothing to judge.

    ``example``: a passed instance whose certificate is worth showing.
    """

    exercise: Exercise
    report: Report | None = None
    trouble: str = ""

    @property
    def ok(self) -> bool:
        """Whether it passed."""
        return self.report is not None and self.report.ok

    @property
    def state(self) -> str:
        """In one word for a table."""
        if self.report is None:
            return "cannot be run"
        return "passed" if self.ok else "wrong"

    @property
    def why(self) -> str:
        """The first thing that is wrong, in one line; empty for a pass."""
        if self.report is None or self.report.ok:
            return self.trouble
        result = self.report.counterexample_result or next(iter(self.report.failures), None)
        return "nothing was judged" if result is None else f"{result.verdict}: {result.message}"


def mark_file(exercise: Exercise, file: str, timeout: float = TIMEOUT, **options: Any) -> Mark:
    """Mark ``FILE.py`` or ``FILE.py:function``; what the file does wrong is no error of ours."""
    path, colon, name = file.rpartition(":")
    if not colon or not path.endswith(".py"):
        path, name = file, exercise.function
    if not Path(path).is_file():
        raise InvalidArgumentError(
            f"check={file!r}: no such file; expected FILE.py or FILE.py:NAME"
        )
    target = f"{Path(path).resolve()}:{name or exercise.function}"
    try:
        with Handed(target, exercise.problem, timeout) as function:
            return Mark(exercise, judged(exercise, function, timeout, **options))
    except CandidateSignatureError as error:
        said = str(error).partition("; its arguments")[0].partition(", without")[0]
        return Mark(exercise, trouble=f"{said}; expected {exercise.signature()}")
    except InvalidArgumentError as error:
        return Mark(exercise, trouble=_plain(str(error), target))


def accept_answer(name: str, function: Callable[..., Any], **options: Any) -> str:
    """Judge a function where it is, in a notebook; AssertionError with the counterexample if it is wrong."""
    exercise = find(name)
    report = judged(exercise, function, **options)
    if not report.ok:
        raise AssertionError(f"{Mark(exercise, report).why}\n{report.counterexample or ''}")
    return f"✓ passed {report.checked} of {report.checked} judged answers"


def mark_program(
    exercise: Exercise, command: str, timeout: float = TIMEOUT, **options: Any
) -> Mark:
    """Mark a program in any language that speaks the protocol (docs/protocol.md); files are spared it."""
    with External(command, exercise.problem, timeout=timeout, npz=None) as program:
        return Mark(exercise, judged(exercise, program, timeout, **options))


def judged(
    exercise: Exercise,
    function: Callable[..., Any],
    timeout: float = TIMEOUT,
    seed: int = 0,
    **options: Any,
) -> Report:
    """The report on a function; ``options`` are those of `verify`, without effect where the exercise judges."""
    if exercise.own:
        return _by_itself(exercise, function, timeout, seed)
    named = exercise.problem.name
    options |= {"timeout": timeout, "seed": seed, "fixed": exercise.fixed}
    return verify(function, named, batch=False, **options)


def _plain(message: str, target: str) -> str:
    """The message without what only we know: how the process was started."""
    text = message.replace(f"candidate={target}: ", "").replace(target, "it")
    late = "its process did not start: no answer" in text
    return (
        f"importing it takes too long: does it compute, or wait for input? ({text})"
        if late
        else text
    )


def _by_itself(
    exercise: Exercise, function: Callable[..., Any], timeout: float, seed: int
) -> Report:
    """All instances in their order; the first failure is the smallest."""
    check_run("quick", seed)
    start = time.perf_counter()
    call = Caller(function, exercise.problem, timeout, False)
    results = tuple(_results(exercise, call, seed))
    bad = next((r for r in results if r.verdict.is_bad), None)
    code = None
    if bad is not None and bad.instance is not None:
        right = _key_answer(exercise, bad.instance)
        lines = call_lines(call, bad.instance.params, exercise.function, right)
        code = "\n".join(["import numpy as np", "", *lines, f"# {bad.message}"])
    return Report(
        problem=exercise.problem.name, profile="quick", seed=seed, results=results,
        elapsed=time.perf_counter() - start, candidate=call.name, counterexample=code,
        counterexample_result=bad,
    )  # fmt: skip


def _key_answer(exercise: Exercise, instance: Instance) -> np.ndarray | None:
    with contextlib.suppress(ArithmeticError, ValueError):
        return np.asarray(exercise.key(**instance.params))
    return None


def _results(exercise: Exercise, call: Caller, seed: int) -> Iterator[Result]:
    for params in exercise.module.instances(seed):
        instance = Instance.of(exercise.problem, "given", **params)
        if call.exhausted:
            yield Result.of("judge", instance, Judgement(Verdict.SKIPPED, message=call.exhausted))
            continue
        start, given = time.perf_counter(), instance.params
        answer = None
        try:
            answer = call.raw(given)
            judgement = _judgement(exercise, answer.x, instance, given)
        except NotApplicableError as error:
            judgement = Judgement(Verdict.SKIPPED, message=str(error))
        except CandidateError as error:
            late = isinstance(error, CandidateTimeoutError)
            judgement = Judgement(Verdict.TIMEOUT if late else Verdict.CRASH, message=str(error))
        kept = answer if judgement.verdict.is_bad else None
        yield Result.of("judge", instance, judgement, kept, time.perf_counter() - start)


def _judgement(
    exercise: Exercise, answer: object, instance: Instance, given: dict[str, Any]
) -> Judgement:
    """What the exercise says of an answer, after what holds for all of them."""
    for name, value in instance.params.items():
        if not np.array_equal(given[name], value, equal_nan=True):
            return Judgement(Verdict.FAIL, message=f"it changed its argument {name} in place")
    found: Judgement = exercise.module.judge(np.asarray(answer, dtype=float), **instance.params)
    return found
