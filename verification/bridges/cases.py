"""A run in parts: one `Case` per problem, check and family of instances, e.g. for one test each."""

from __future__ import annotations

import fnmatch
import functools
import json
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from verification import checks as checks_package
from verification import problems
from verification.checks import Check
from verification.errors import InvalidArgumentError, UnknownProblemError, VerificationFailedError
from verification.failures import run_command
from verification.instances.instance import Instance
from verification.kit import fixing, known_failures
from verification.kit import loop as kit
from verification.kit.solver_call import Caller
from verification.kit.timeouts import watch
from verification.verdicts.expectations import Expectations, Known
from verification.verdicts.report import Report
from verification.verdicts.verdict import Verdict

#: Seconds that all cases of one candidate together may spend on making failures smaller.
SHRINK_SECONDS = {"quick": 10.0, "thorough": 60.0}
#: Name of the pytest property under which the outcome of a case travels, also between processes.
PROPERTY = "verification"
#: Candidates that are remembered.
JUDGES = 64


class Judge:
    """A candidate of one problem, whose calls are counted over all of its cases."""

    def __init__(self, candidate: Callable[..., Any], case: Case, timeout: float) -> None:
        problem = fixing.fix(problems.lookup(case.problem), dict(case.fixed))
        self.call = Caller(candidate, problem, timeout)
        self.shrinking = SHRINK_SECONDS.get(case.profile, 10.0)

    def report(self, case: Case) -> Report:
        """Run one case; a failure is made smaller while there is time left for that."""
        start = time.perf_counter()
        check = case.module
        with watch(self.call):
            expected = Expectations(case.xfail)
            found = (kit.run_one(case.check, check, self.call, i) for i in case.instances())
            results = [expected.apply(each) for each in found]
            began = time.perf_counter()
            limit = min(self.shrinking, kit.SHRINK_SECONDS["quick"])
            smallest, code = kit.counterexample(results, {case.check: check}, self.call, limit)
            if smallest is not None:
                self.shrinking = max(0.0, self.shrinking - (time.perf_counter() - began))
        results += expected.unmet()
        function = self.call.function
        settings: dict[str, Any] = {
            "timeout": self.call.timeout,
            "fixed": dict(case.fixed),
            "checks": (case.check,),
            "announced": self.call.accuracy,
            **run_command.settings_of(function),
        }
        if hasattr(function, "deaths") and not getattr(function, "origin", ""):
            settings["isolate"] = True
        return Report(
            problem=case.problem,
            profile=case.profile,
            seed=case.seed,
            results=tuple(results),
            elapsed=time.perf_counter() - start,
            candidate=self.call.name,
            counterexample=code,
            counterexample_result=smallest,
            settings=settings,
            known=expected.listed(),
        )


_judges: dict[tuple[int, str, str, float], tuple[Any, Judge]] = {}


def judge(candidate: Callable[..., Any], case: Case, timeout: float) -> Judge:
    """The judge of a candidate, the same for all cases of a problem."""
    key = (id(candidate), case.problem, repr((case.fixed, case.profile)), timeout)
    if key not in _judges:
        if len(_judges) >= JUDGES:  # a test that wraps its candidate has a new one every time
            del _judges[next(iter(_judges))]
        # the candidate is kept, so that its id is not given to another one
        _judges[key] = (candidate, Judge(candidate, case, timeout))
    return _judges[key][1]


@dataclass(frozen=True)
class Case:
    """One check on one family of instances of one problem.

    Attributes
    ----------
    problem, check, family : names.
    profile, seed, fixed : as for `verification.verify`; ``fixed`` as pairs.
    xfail : the known failures that are about it.
    """

    problem: str
    check: str
    family: str
    profile: str = "quick"
    seed: int = 0
    fixed: tuple[tuple[str, Any], ...] = ()
    xfail: tuple[Known, ...] = field(default=(), compare=False, repr=False)
    record: list[Any] = field(default_factory=list, compare=False, repr=False)

    def __str__(self) -> str:
        return f"{self.problem}-{self.check}-{self.family}"

    @property
    def object_name(self) -> str:
        """The set, loss, function or model."""
        return self.problem.rpartition(".")[0]

    @property
    def operation(self) -> str:
        """What is asked of it: projection, value, sdca_update, primal, ..."""
        return self.problem.rpartition(".")[2]

    @property
    def module(self) -> Check:
        """The check."""
        return checks_package.discover()[self.check]

    def instances(self) -> list[Instance]:
        """The instances of the case."""
        drawn = _drawn(self.problem, self.check, self.profile, self.seed, self.fixed)
        return [i for i in drawn if i.family == self.family]

    def report(self, candidate: Callable[..., Any] | None = None, timeout: float = 10.0) -> Report:
        """Judge a candidate (None: that of `fast`) on the instances of the case."""
        if candidate is None:
            candidate = problems.fast_candidate(self.problem)
            if candidate is None:
                raise InvalidArgumentError(
                    f"candidate=None: fast has no {self.problem}; pass a callable of your own"
                )
        return judge(candidate, self, timeout).report(self)

    def run(self, candidate: Callable[..., Any] | None = None, timeout: float = 10.0) -> Report:
        """As `report`, with the outcome as pytest knows it.

        Raises
        ------
        VerificationFailedError
            With the smallest counterexample as code; or small instances are inconclusive.
        pytest.skip.Exception
            If nothing was judged; the reason tells skipped from inconclusive.
        pytest.xfail.Exception, pytest.fail.Exception
            If it fails as known; if it is known to fail, and does not.
        """
        __tracebackhide__ = True
        report = self.report(candidate, timeout)
        self.record.append((PROPERTY, json.dumps(summary(self, report))))
        finalize(report)
        return report


def finalize(report: Report) -> None:
    """Turn a report on one case into an exception, a skip, or nothing."""
    import pytest

    __tracebackhide__ = True
    bad = [r for r in report.failures if r.verdict is not Verdict.UNEXPECTED_PASS]
    if report.failures and not bad:
        said = "\n".join(f"[XPASS(strict)] {r.message}" for r in report.failures)
        pytest.fail(said, pytrace=False)
    if bad:
        again = run_command.command(report)
        again = f"\n\nthis check on all its families again:\n{again}" if again else ""
        raise VerificationFailedError(report.summary() + again)
    if report.undecided:
        raise VerificationFailedError(report.summary())
    if report.known_lines():
        pytest.xfail("; ".join(report.known_lines()))
        raise VerificationFailedError(report.summary())  # with --runxfail, under which that returns
    if report.checked == 0:
        uncertain = report.tally.count(Verdict.INCONCLUSIVE.value)
        wanted = Verdict.INCONCLUSIVE if uncertain else Verdict.SKIPPED
        reason = next((r.message for r in report.results if r.verdict is wanted), "no instances")
        pytest.skip(f"{wanted.value}: {reason}" if uncertain else reason)


def summary(case: Case, report: Report) -> dict[str, Any]:
    """Counts and reasons of one case, as plain data."""
    return {
        "problem": case.problem,
        "check": case.check,
        "family": case.family,
        "counts": {name: n for name, n in report.counts.items() if n},
        "reasons": [
            [verdict, reason, n]
            for (verdict, _), said in report.tally.reasons.items()
            for reason, n in said.items()
        ],
    }


@functools.lru_cache(maxsize=64)
def _drawn(
    problem: str, check: str, profile: str, seed: int, fixed: tuple[tuple[str, Any], ...]
) -> tuple[Instance, ...]:
    task = fixing.fix(problems.lookup(problem), dict(fixed))
    module = checks_package.discover()[check]
    return tuple(fixing.instances(module, task, profile, seed))


def cases(
    *patterns: str,
    profile: str = "quick",
    seed: int = 0,
    checks: Iterable[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
    xfail: known_failures.Xfail = (),
) -> list[Case]:
    """One case per (problem, check, family) of all problems whose name matches.

    Parameters
    ----------
    *patterns : str
        ``"simplex.projection"``, ``"topk_hinge_*"``, ``"*.prox"``: whole names, or objects.
    profile : {"quick", "thorough"}
    seed : int
    checks : iterable of str, optional
        Those only.
    fixed : mapping, optional
        Arguments that the candidate has built in.
    xfail : as for `verification.verify`
        An entry is about every case that it covers: each has to fail.

    Raises
    ------
    UnknownProblemError, InvalidArgumentError
    """
    if profile not in SHRINK_SECONDS:
        raise InvalidArgumentError(f"profile={profile!r}: expected quick or thorough")
    kit.check_run(profile, seed)
    matching = _matching(patterns)
    found = kit.select(checks, *(problems.lookup(name) for name in matching))
    frozen = tuple((n, tuple(v) if isinstance(v, list) else v) for n, v in (fixed or {}).items())
    built: list[Case] = []
    idle: dict[Known, None] = {}
    for name in matching:
        task = fixing.fix(problems.lookup(name), fixed)
        known = known_failures.entries(xfail, name, found)
        idle |= dict.fromkeys(k for k in known if k.strict)
        for check, module in found.items():
            if not module.applies(task):
                continue
            drawn = _drawn(name, check, profile, seed, frozen)
            families = dict.fromkeys(instance.family for instance in drawn)
            for family in families:
                of = [instance for instance in drawn if instance.family == family]
                about = tuple(k for k in known if any(k.covers(check, i, family) for i in of))
                built.append(Case(name, check, family, profile, seed, frozen, about))
    if unused := [k for k in idle if all(k not in case.xfail for case in built)]:
        listed = dict.fromkeys(f"{c.check}/{c.family}" for c in built)
        raise InvalidArgumentError(
            f"xfail: {unused[0]} ({unused[0].source or unused[0].reason}) is about no instance; "
            f"expected CHECK or CHECK/FAMILY out of {', '.join(listed)}"
        )
    return built


def _matching(patterns: Iterable[str]) -> list[str]:
    names = problems.names()
    matched: dict[str, None] = {}
    for pattern in patterns:
        hits = [n for n in names if fnmatch.fnmatchcase(n, pattern)]
        hits += [n for n in names if fnmatch.fnmatchcase(n.rpartition(".")[0], pattern)]
        if not hits:
            problems.lookup(pattern)  # perhaps one that is not listed; else it says what there is
            hits = [pattern]
        matched |= dict.fromkeys(hits)
    if not matched:
        raise UnknownProblemError(f"no pattern given; expected some of {', '.join(names)}")
    return list(matched)


def save_failure(case: Case, report: Report, folder: Path) -> Path | None:
    """Write the replay file of a failing case; None if nothing failed."""
    from verification.failures.replay import save

    if not any(r.instance is not None for r in report.failures):
        return None
    folder.mkdir(parents=True, exist_ok=True)
    return save(report, folder / f"{case}.replay.json")
