"""verify(candidate, problem) -> Report: runs every check that applies and keeps count of it all."""

import contextlib
import copy
import itertools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from verification import checks as checks_package
from verification.adapters import precision
from verification.certificates import tolerance
from verification.checks import Check
from verification.errors import InvalidArgumentError
from verification.failures import run_command
from verification.failures import shrink as shrinking
from verification.instances import drawing
from verification.instances.instance import Instance
from verification.kit import findings, fixing, known_failures, unsupported
from verification.kit.solver_call import (
    Caller,
    CandidateError,
    CandidateTimeoutError,
    NotApplicableError,
    RefusedError,
    check_timeout,
)
from verification.kit.timeouts import watch
from verification.problems.problem import Problem, fast_candidate, lookup
from verification.verdicts import accuracy_contract
from verification.verdicts.expectations import Expectations
from verification.verdicts.report import Report
from verification.verdicts.tally import Tally
from verification.verdicts.verdict import Judgement, Result, Verdict

PROFILES = ("quick", "thorough", "soak")
# Instances of a soak run, unless it is told otherwise; of its results only so many bad ones are kept.
SOAK_COUNT = 100_000
SOAK_KEEPS = 200
# Checks beyond this ORDER call the candidate in a special way (batches, float32, oracle).
LAST_PLAIN_CHECK = 40
SHRINK_SECONDS = {"quick": 3.0, "thorough": 15.0, "soak": 30.0}

Progress = Callable[[str, int, int], None]
Refuses = type[Exception] | str | Iterable[type[Exception] | str] | None


def verify(
    candidate: Callable[..., Any] | None = None,
    problem: str = "topk_simplex_alpha.projection",
    profile: str = "quick",
    seed: int = 0,
    xfail: known_failures.Xfail = (),
    *,
    fixed: Mapping[str, Any] | None = None,
    checks: Iterable[str] | None = None,
    batch: bool | None = None,
    timeout: float = 10.0,
    isolate: bool = False,
    shrink: bool = True,
    every: int = 1,
    accuracy: float | None = None,
    dtype: Any = None,
    refuses: Refuses = (),
    count: int | None = None,
    seconds: float | None = None,
    progress: Progress | None = None,
    waiting: Callable[[str], None] | None = None,
    keep: Callable[[dict[str, Any], Any], None] | None = None,
) -> Report:
    """Throw instances at a candidate and judge every answer by certificates.

    Parameters
    ----------
    candidate : callable, optional
        Takes the problem's arguments, e.g. ``def project(a, k, r, rho)``. It may leave out those
        that have a default (instances which need them are counted as skipped). A program in any
        language: ``external("./solver", problem=...)``, see `verification.external`. None verifies
        the implementation in `fast`.
    problem : str
        ``"<object>.<operation>"``, see `verification.problems.names`.
    profile : {"quick", "thorough", "soak"}
        Some hundred instances in seconds, some thousand in up to a minute, or batch after batch with
        the seeds ``seed``, ``seed + 1``, ...; of a soak run only counts, the worst figures and the
        failures are kept.
    seed : int
        The instances are a function of it.
    xfail : mapping or iterable of str
        Known failures, as "check" or "check/family" (with a reason), or files ``*.toml`` that list
        them (`verification.kit.known_failures`). Their failures count as expected; one that does not
        fail any more is an unexpected pass, which is bad.
    fixed : mapping, optional
        Arguments that the candidate has built in, ``{"k": 3}``: every instance has these values, and
        the candidate need not accept them.
    checks : iterable of str, optional
        Run these only.
    batch : bool, optional
        Whether the candidate claims to take batches of rows. By default it is tried on batches of
        three rows: one that fails there is a function of single vectors, and batches are skipped.
    timeout : float
        Seconds per call (the first call gets twelve times as many more, to compile).
    isolate : bool
        Call the candidate in a process of its own: a hang in compiled code, a crash of the
        interpreter and ``os._exit`` become verdicts. Costs some 0.2 ms per call.
    shrink : bool
        Look for the smallest counterexample when something fails.
    every : int
        Of the instances of each check only the first of so many.
    accuracy : float, optional
        Relative accuracy that the candidate promises, 0 < accuracy < 1, in the place of the rounding
        bound; of a trained model the relative gap, which it is asked for, too. Relative to the sizes
        of the numbers that enter, as the bound is (docs/verify_your_own.md). A program may announce
        it. The report says which accuracy would have passed.
    dtype : str or dtype, optional
        Precision that the candidate computes in, "float32": instances are rounded to it, and judged by
        its rounding. By default that of an adapter, else float64.
    refuses : exception type, or several, or their names
        Errors by which the candidate refuses arguments that it does not handle, and then
        NotImplementedError, too: skipped, and counted by argument.
    count, seconds : int and float, optional
        Where a soak run stops, whichever is reached first; by default after 100 000 instances.
    progress : callable, optional
        Called as ``progress(check, done, total)``.
    waiting : callable, optional
        Called with a line of text every second that an answer is waited for, from another thread.
    keep : callable, optional
        Called as ``keep(arguments, answer)`` after each answer.

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
    check_run(profile, seed)
    limit, deadline = _limits(profile, count, seconds, start)
    promised, refusing = accuracy_contract.checked(accuracy), unsupported.names(refuses)
    named = lookup(problem)
    if promised is not None and named.model is not None and "tol" in named.arguments:
        fixed = {"tol": promised, **(fixed or {})}
    task = fixing.fix(named, fixed)
    check_timeout(timeout)
    given = candidate is not None
    if candidate is None:
        candidate = fast_candidate(problem)
        if candidate is None:
            raise InvalidArgumentError(
                f"candidate=None: fast has no {problem}; pass a callable of your own"
            )
        batch = True if batch is None else batch
    selected = select(checks, task)
    expected = Expectations(known_failures.entries(xfail, task.name, selected))

    settings: dict[str, Any] = {
        "timeout": timeout,
        "batch": batch,
        "isolate": isolate,
        "fixed": dict(task.fixed),
        "checks": None if checks is None else tuple(selected),
        "xfail": known_failures.reasons(xfail),
        "count": count,
        "seconds": seconds,
        "accuracy": promised,
        "dtype": None if dtype is None else str(np.dtype(dtype)),
        "refuses": refusing,
        **(run_command.settings_of(candidate) if given else {"solver": run_command.FAST}),
    }
    results: list[Result] = []
    tally = Tally()
    smallest: Result | None = None
    with contextlib.ExitStack() as stack:
        if isolate:
            from verification.external import External, isolated

            if not isinstance(candidate, External):
                own = getattr(candidate, "dtype", None)
                candidate = stack.enter_context(isolated(candidate, task, timeout=timeout))
                candidate.dtype = own  # type: ignore[attr-defined]
        call = Caller(candidate, task, timeout, batch, promised, refusing)
        call.keep = keep
        call.dtype = call.dtype if dtype is None else precision.Rounded(dtype).dtype
        stack.enter_context(watch(call, waiting=waiting))
        for result in _results(call, selected, (profile, seed, every), limit, deadline, progress):
            result = expected.apply(result)
            tally.add(result)
            if profile != "soak" or (result.verdict.is_bad and len(results) < SOAK_KEEPS):
                results.append(result)
        code, refused = None, call.refusals.said()
        settings["announced"] = call.accuracy if promised is None else None
        if shrink:
            smallest, code = counterexample(results, selected, call, SHRINK_SECONDS[profile])
    for result in expected.unmet():
        tally.add(result)
        results.append(result)
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
        tally=tally,
        refused=refused,
        known=expected.listed(),
    )


def _limits(
    profile: str, count: int | None, seconds: float | None, start: float
) -> tuple[int | None, float | None]:
    """Number of instances and time at which a run stops; only a soak run has any."""
    for name, value in (("count", count), ("seconds", seconds)):
        if value is not None and profile != "soak":
            raise InvalidArgumentError(
                f"{name}={value!r} with profile={profile!r}: only a soak run is bounded by it; "
                "use profile='soak'"
            )
        if value is not None and not value > 0:
            raise InvalidArgumentError(f"{name}={value!r}: expected a number > 0")
    if profile != "soak":
        return None, None
    if count is None and seconds is None:
        count = SOAK_COUNT
    return count, None if seconds is None else start + seconds


def _results(
    call: Caller,
    selected: Mapping[str, Check],
    drawn: tuple[str, int, int],
    limit: int | None,
    deadline: float | None,
    progress: Progress | None,
) -> Iterator[Result]:
    """Every check that applies on its instances; in a soak run again and again, with the next seeds.

    ``drawn``: profile, seed, and of how many instances one is judged.
    """
    total, (profile, seed, every) = 0, drawn
    applying = {name: check for name, check in selected.items() if check.applies(call.problem)}
    for batch in itertools.count(seed):
        before = total
        for name, check in applying.items():
            known = profile if profile in check.COUNTS else "quick"  # small, and repeated
            instances = fixing.instances(check, call.problem, known, batch)[::every]
            for done, instance in enumerate(instances):
                result = run_one(name, check, call, instance)
                if result.verdict.is_bad and profile != "soak":
                    again = fixing.recipe(name, call.problem, known, batch, done * every)
                    call.drawn[instance] = again
                yield result
                total += 1
                if progress is not None:
                    progress(name, *((total, limit) if limit else (done + 1, len(instances))))
                if total == limit or (deadline and time.perf_counter() >= deadline):
                    return
        if profile != "soak" or total == before or call.exhausted:
            return


def check_run(profile: str, seed: Any) -> None:
    """Refuse what no run can be made with, before anything is run."""
    if profile not in PROFILES:
        raise InvalidArgumentError(f"profile={profile!r}: expected one of {', '.join(PROFILES)}")
    if not (isinstance(seed, (int, np.integer)) and seed >= 0):
        raise InvalidArgumentError(f"seed={seed!r}: expected an integer >= 0, e.g. 0")


def run_one(name: str, check: Check, call: Caller, instance: Instance) -> Result:
    """One check on one instance, every outcome as a verdict."""
    if call.exhausted:
        return Result.of(name, instance, Judgement(Verdict.SKIPPED, message=call.exhausted))
    if call.dtype is not None:
        given, rounded = instance, precision.canonicalized(instance, call.dtype)
        if rounded is None or not drawing.valid(rounded):
            message = f"cannot be posed in {call.dtype}"
            return Result.of(name, given, Judgement(Verdict.SKIPPED, message=message))
        instance = rounded
    start, refused = time.perf_counter(), False
    try:
        call.last = None
        judgement = call.remarked(check.examine(call, instance))
        if instance.problem.model is None:
            again = partial(check.examine, call, instance)
            judgement = findings.once(call, instance, judgement, again)
    except NotApplicableError as error:
        judgement = Judgement(Verdict.SKIPPED, message=str(error))
        if refused := isinstance(error, RefusedError):
            call.refusals.refuse(instance, str(error))
    except CandidateError as error:
        late = isinstance(error, CandidateTimeoutError)
        if findings.SINGLE in call.said and not late:  # float32 overflows where the input does not
            return Result.of(name, instance, findings.before(findings.SINGLE))
        verdict, rows = Verdict.TIMEOUT if late else Verdict.CRASH, error.asked and error.asked[0]
        judgement = Judgement(verdict, message=str(error), rows=rows or ())
    if call.last is not None and not refused:
        call.refusals.take(instance)
    judgement = _with_accuracy(judgement, instance, call)
    # a copy: the candidate may write into its own answer later
    answer = copy.deepcopy(call.last) if judgement.verdict.is_bad else None
    return Result.of(name, instance, judgement, answer, time.perf_counter() - start)


def _with_accuracy(judgement: Judgement, instance: Instance, call: Caller) -> Judgement:
    """The judgement with the accuracy that would pass; that of float32 inputs says nothing of other ones."""
    if instance.problem.model is not None:
        own = accuracy_contract.current() or float(instance["tol"])
        return replace(judgement, accuracy=judgement.least_promise(own))
    d = int(np.size(instance[instance.problem.data]))
    found = judgement.least_promise(tolerance.relative(instance, d))
    rounding = tolerance.size_factor(d) * tolerance.precision(instance)
    excused = judgement.ok and found is not None and found <= rounding
    if excused and call.dtype is None and instance.has_dtype("float32"):
        found = 0.0
    return replace(judgement, accuracy=found, excused=excused)


def applicable(problem: Problem) -> list[str]:
    """Names of the checks that apply to a problem."""
    return [name for name, check in checks_package.discover().items() if check.applies(problem)]


def select(names: Iterable[str] | None, *problems: Problem) -> dict[str, Check]:
    """Checks by their names, of which one at least must apply to one of the problems."""
    found = checks_package.discover()
    if names is None:
        return found
    chosen = [names] if isinstance(names, str) else list(names)
    if unknown := [n for n in chosen if n not in found]:
        raise InvalidArgumentError(f"checks={unknown}: expected some of {', '.join(found)}")
    possible = [n for n, c in found.items() if any(c.applies(p) for p in problems)]
    if not set(possible) & set(chosen):
        of = problems[0].name if len(problems) == 1 else "these problems"
        raise InvalidArgumentError(
            f"checks={chosen}: {of} has other ones, expected some of {', '.join(possible)}"
        )
    return {name: check for name, check in found.items() if name in chosen}


def counterexample(
    results: list[Result], selected: Mapping[str, Check], call: Caller, seconds: float
) -> tuple[Result | None, str | None]:
    """The simplest unexpected failure, made as small as the time allows, and its code."""
    failures = [r for r in results if r.verdict.is_bad and r.instance is not None]
    if not failures:
        return None, None
    # a wrong answer says more than a crash, a crash more than a timeout; a plain call in double
    # precision is easier to read than a batch, or float32
    severity = {Verdict.FAIL: 0, Verdict.CRASH: 1, Verdict.TIMEOUT: 2}

    def rank(r: Result) -> tuple[Any, ...]:
        special = selected[r.check].ORDER > LAST_PLAIN_CHECK
        return severity[r.verdict], special, shrinking.complexity(r.instance)

    smallest = first = min(failures, key=rank)
    check = selected[first.check]

    def rerun(instance: Instance) -> Result:
        if not fixing.agrees(instance, call.problem.fixed):
            judgement = Judgement(Verdict.SKIPPED, message="an argument is fixed")
            return Result.of(first.check, instance, judgement)
        return run_one(first.check, check, call, instance)

    with call.pardoned():  # a program may crash meanwhile
        if first.verdict is not Verdict.TIMEOUT:
            smallest = shrinking.shrink(first, rerun, seconds)
            left = smallest.instance is not None and smallest.instance.params.values()
            if first.instance in call.drawn and any(map(shrinking.is_long, left or ())):
                smallest = first  # which a script draws again, without its numbers
        return smallest, shrinking.code(smallest, call)
