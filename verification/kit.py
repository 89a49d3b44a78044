"""verify(candidate, problem) -> Report: runs every check that applies and keeps count of it all."""

from __future__ import annotations

import contextlib
import copy
import time
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from verification import checks as checks_package
from verification import shrink as shrinking
from verification.calling import (
    Caller,
    CandidateCrashError,
    CandidateTimeoutError,
    NotApplicableError,
    watch,
)
from verification.checks import Check
from verification.errors import InvalidArgumentError
from verification.instances import Instance
from verification.problems import Problem, fast_candidate, lookup
from verification.verdicts import Judgement, Report, Result, Verdict

PROFILES = ("quick", "thorough")
# Checks beyond this ORDER call the candidate in a special way (batches, float32, oracle).
LAST_PLAIN_CHECK = 40
SHRINK_SECONDS = {"quick": 3.0, "thorough": 15.0}

Progress = Callable[[str, int, int], None]


def verify(
    candidate: Callable[..., Any] | None = None,
    problem: str = "topk_simplex_alpha.projection",
    profile: str = "quick",
    seed: int = 0,
    xfail: Mapping[str, str] | Iterable[str] = (),
    *,
    checks: Iterable[str] | None = None,
    batch: bool | None = None,
    timeout: float = 10.0,
    isolate: bool = False,
    shrink: bool = True,
    progress: Progress | None = None,
) -> Report:
    """Throw instances at a candidate and judge every answer by certificates.

    Parameters
    ----------
    candidate : callable, optional
        Takes the problem's arguments, e.g. ``def project(a, k, r, rho)``. It may leave out those
        that have a default (instances which need them are counted as skipped). None verifies the
        implementation in `fast`.
    problem : str
        ``"<stem>.<operation>"``, see `verification.problems.names`.
    profile : {"quick", "thorough"}
        Some hundred instances in seconds, or some thousand in up to a minute.
    seed : int
        The instances are a function of it.
    xfail : mapping or iterable of str
        Known failures, as "check" or "check/family" (with a reason). Their failures count as
        expected; one that does not fail any more is itself a failure.
    checks : iterable of str, optional
        Run these only.
    batch : bool, optional
        Whether the candidate claims to take batches of rows. By default it is tried on batches of
        equal rows: one that fails there is a function of single vectors, and batches are skipped.
    timeout : float
        Seconds per call (the first call gets two minutes more, to compile).
    isolate : bool
        Call the candidate in a process of its own: a hang in compiled code, a crash of the
        interpreter and ``os._exit`` become verdicts. Costs some 0.2 ms per call.
    shrink : bool
        Look for the smallest counterexample when something fails.
    progress : callable, optional
        Called as ``progress(check, done, total)``.

    Returns
    -------
    Report
        `Report.raise_if_failed` turns a failure into an exception. A run in which nothing was
        judged has failed.

    Raises
    ------
    UnknownProblemError, CandidateSignatureError, InvalidArgumentError
    """
    start = time.perf_counter()
    task = lookup(problem)
    check_run(profile, seed)
    if not timeout > 0:
        raise InvalidArgumentError(f"timeout={timeout!r}: expected seconds > 0, e.g. 10")
    if candidate is None:
        candidate = fast_candidate(problem)
        if candidate is None:
            raise InvalidArgumentError(
                f"candidate=None: fast has no {problem}; pass a callable of your own"
            )
        batch = True if batch is None else batch
    selected = _select(checks)
    expected = dict(xfail) if isinstance(xfail, Mapping) else dict.fromkeys(xfail, "known")
    _reject_unknown(expected, selected)

    settings = {"timeout": timeout, "batch": batch}
    results: list[Result] = []
    smallest: Result | None = None
    with contextlib.ExitStack() as stack:
        if isolate:
            from verification.external.isolated import isolated

            candidate = stack.enter_context(isolated(candidate, problem))
        call = Caller(candidate, task, timeout, batch)
        stack.enter_context(watch(call))
        for name, check in selected.items():
            if check.applies(task):
                instances = check.instances(task, profile, seed)
                for done, instance in enumerate(instances):
                    results.append(run_one(name, check, call, instance))
                    if progress is not None:
                        progress(name, done + 1, len(instances))
        if shrink:
            call.pardon()
            seconds = SHRINK_SECONDS[profile]
            smallest = _smallest_failure(results, selected, call, expected, seconds)
        code = None if smallest is None else shrinking.code(smallest, call)
    results = _apply_xfail(results, expected)
    return Report(
        problem=problem,
        profile=profile,
        seed=seed,
        results=tuple(results),
        elapsed=time.perf_counter() - start,
        candidate=call.name,
        counterexample=code,
        counterexample_result=smallest,
        settings=settings,
    )


def check_run(profile: str, seed: int) -> None:
    """Refuse what no run can be made with, before anything is run."""
    if profile not in PROFILES:
        raise InvalidArgumentError(f"profile={profile!r}: expected one of {', '.join(PROFILES)}")
    if seed < 0:
        raise InvalidArgumentError(f"seed={seed!r}: expected an integer >= 0, e.g. 0")


def run_one(name: str, check: Check, call: Caller, instance: Instance) -> Result:
    """One check on one instance, every outcome as a verdict."""
    if call.exhausted:
        return Result.of(name, instance, Judgement(Verdict.SKIPPED, message=call.exhausted))
    start = time.perf_counter()
    try:
        call.last = None
        judgement = check.examine(call, instance)
    except NotApplicableError as error:
        judgement = Judgement(Verdict.SKIPPED, message=str(error))
    except CandidateTimeoutError as error:
        judgement = Judgement(Verdict.TIMEOUT, message=str(error))
    except CandidateCrashError as error:
        judgement = Judgement(Verdict.CRASH, message=str(error))
    # a copy: the candidate may write into its own answer later
    answer = copy.deepcopy(call.last) if judgement.verdict.is_bad else None
    return Result.of(name, instance, judgement, answer, time.perf_counter() - start)


def applicable(problem: Problem) -> list[str]:
    """Names of the checks that apply to a problem."""
    return [name for name, check in checks_package.discover().items() if check.applies(problem)]


def _select(names: Iterable[str] | None) -> dict[str, Check]:
    found = checks_package.discover()
    if names is None:
        return found
    chosen = list(names)
    if unknown := [n for n in chosen if n not in found]:
        raise InvalidArgumentError(f"checks={unknown}: expected some of {', '.join(found)}")
    return {name: check for name, check in found.items() if name in chosen}


def _reject_unknown(expected: Mapping[str, str], selected: Mapping[str, Check]) -> None:
    for key in expected:
        if key.partition("/")[0] not in selected:
            raise InvalidArgumentError(
                f"xfail={key!r}: expected 'check' or 'check/family' with a check among "
                f"{', '.join(selected)}"
            )


def _key(result: Result, expected: Mapping[str, str]) -> str | None:
    keys = (result.check, f"{result.check}/{result.family}")
    return next((key for key in keys if key in expected), None)


def _apply_xfail(results: list[Result], expected: Mapping[str, str]) -> list[Result]:
    seen: set[str] = set()
    changed: list[Result] = []
    for result in results:
        key = _key(result, expected) if result.verdict.is_bad else None
        if key is not None:
            seen.add(key)
            message = f"{expected[key]}: {result.message}"
            judgement = Judgement(Verdict.EXPECTED_FAILURE, message=message)
            result = Result.of(result.check, result.instance, judgement)
        changed.append(result)
    for key in expected:
        if key not in seen:
            message = f"expected to fail ({expected[key]}), but did not: remove it from xfail"
            judgement = Judgement(Verdict.FAIL, message=message)
            changed.append(Result.of(key.partition("/")[0], None, judgement))
    return changed


def _smallest_failure(
    results: list[Result],
    selected: Mapping[str, Check],
    call: Caller,
    expected: Mapping[str, str],
    seconds: float,
) -> Result | None:
    """Shrink the simplest unexpected failure as far as the time allows."""
    failures = [
        r
        for r in results
        if r.verdict.is_bad and r.instance is not None and _key(r, expected) is None
    ]
    if not failures:
        return None
    # a wrong answer says more than a crash, a crash more than a timeout; a plain call in double
    # precision is easier to read than a batch, or float32
    severity = {Verdict.FAIL: 0, Verdict.CRASH: 1, Verdict.TIMEOUT: 2}

    def rank(r: Result) -> tuple[Any, ...]:
        special = selected[r.check].ORDER > LAST_PLAIN_CHECK
        return severity[r.verdict], special, shrinking.complexity(r.instance)

    first = min(failures, key=rank)
    if first.verdict is Verdict.TIMEOUT:
        return first
    check = selected[first.check]
    return shrinking.shrink(
        first, lambda instance: run_one(first.check, check, call, instance), seconds
    )
