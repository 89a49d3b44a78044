"""pytest plugin: one test per (problem, check, family of instances).

``@verification.parametrize("topk_hinge_*")`` gives them to a test of yours as the argument ``case``;
``pytest --verify-solver package:function --verify-problem NAME`` needs no test file at all. pytest
loads this file at every start: everything else is imported when one of the two is used.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from pathlib import Path

    from verification.kit.known_failures import Xfail

#: Name of the property that carries a case's outcome; see `verification.bridges.cases`.
PROPERTY = "verification"
#: Verdicts that say nothing about an answer.
UNJUDGED = ("skipped", "inconclusive", "unexpected pass")
#: Reasons in the summary.
REASONS = 20


def parametrize(
    *patterns: str,
    argument: str = "case",
    profile: str = "quick",
    seed: int = 0,
    checks: Iterable[str] | None = None,
    fixed: Mapping[str, Any] | None = None,
    xfail: Xfail = (),
) -> pytest.MarkDecorator:
    """Give a test one item per (problem, check, family): ``@verification.parametrize("simplex.*")``.

    The test takes ``case`` and calls ``case.run(candidate)``, which fails with the smallest
    counterexample as code, and skips where nothing could be judged.

    Parameters
    ----------
    *patterns : str
        Names of problems or objects, also with ``*``: ``"topk_hinge_*"``, ``"*.prox"``.
    argument : str
        Name of the argument.
    profile, seed, checks, fixed, xfail
        As for `verification.verify`; a known failure has to fail in every case that it is about.
    """
    from verification.bridges.cases import cases

    found = cases(*patterns, profile=profile, seed=seed, checks=checks, fixed=fixed, xfail=xfail)
    return pytest.mark.parametrize(argument, found, ids=str)


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options ``--verify-...``."""
    group = parser.getgroup("verification", "verify a solver by certificates (refsolve)")
    group.addoption("--verify-problem", metavar="NAME", help="NAME.OPERATION to verify.")
    group.addoption("--verify-solver", metavar="PACKAGE:FUNCTION", help="Function to verify.")
    group.addoption("--verify-exec", metavar="COMMAND", help="Program to verify (JSON lines).")
    group.addoption("--verify-profile", default="quick", help="quick or thorough.")
    group.addoption("--verify-seed", type=int, default=0, help="Seed of the instances.")
    group.addoption(
        "--verify-check", action="append", default=[], metavar="CHECK",
        help="Run this check only; repeatable.",
    )  # fmt: skip
    group.addoption(
        "--verify-set", action="append", default=[], metavar="NAME=VALUE",
        help="Argument that the solver has built in; repeatable.",
    )  # fmt: skip
    group.addoption(
        "--verify-xfail", action="append", default=[], metavar="CHECK[/FAMILY]|FILE.toml",
        help="Known to fail, or a file of such; repeatable. One that passes is a failure.",
    )  # fmt: skip
    group.addoption(
        "--verify-no-isolate", dest="verify_isolate", action="store_false",
        help="Call the function in this process, where it may hang or end all tests.",
    )  # fmt: skip
    group.addoption("--verify-timeout", type=float, default=10.0, help="Seconds per call.")
    group.addoption("--verify-output", metavar="FOLDER", help="Folder for replay files.")
    group.addoption("--verify-only", action="store_true", help="Collect no test files besides.")


def _active(config: pytest.Config) -> bool:
    return bool(config.getoption("verify_problem", None))


def pytest_configure(config: pytest.Config) -> None:
    """Refuse options that do not fit; without a file named, no test files are collected."""
    config.pluginmanager.register(Outcomes(), "verification-outcomes")
    given = [
        n
        for n in ("solver", "exec", "output", "check", "set", "xfail")
        if config.getoption(f"verify_{n}", None)
    ]
    if given and not _active(config):
        raise pytest.UsageError(f"--verify-{given[0]} needs --verify-problem NAME")
    if _active(config):  # also in a worker of pytest-xdist, which has the same command line
        named = config.args_source is pytest.Config.ArgsSource.ARGS
        config.option.verify_only = config.option.verify_only or not named


def pytest_report_header(config: pytest.Config) -> str | None:
    """What is verified."""
    if not _active(config):
        return None
    option = config.option
    who = option.verify_exec or option.verify_solver or "fast"
    how = f"profile {option.verify_profile}, seed {option.verify_seed}"
    return f"verification: {who} against {option.verify_problem}, {how}"


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """With nothing but a solver to verify, other tests stay where they are."""
    return True if _active(config) and config.option.verify_only else None


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(
    session: pytest.Session, config: pytest.Config, items: list[pytest.Item]
) -> None:
    """Add the items of ``--verify-problem``."""
    if not _active(config):
        return
    from verification.bridges.pytest_items import collect

    if config.option.verify_only:
        items.clear()
    found = collect(session)
    items += found
    # counted as what files give
    report = pytest.CollectReport(config.option.verify_problem, "passed", None, list(found))
    config.hook.pytest_collectreport(report=report)


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> None:
    """Let a case note its outcome on the test that runs it."""
    callspec = getattr(pyfuncitem, "callspec", None)
    if callspec is None:
        return
    for value in callspec.params.values():
        if type(value).__module__ == "verification.bridges.cases":
            object.__setattr__(value, "record", pyfuncitem.user_properties)


def _summary(report: Any) -> dict[str, Any] | None:
    if getattr(report, "when", "") != "call":
        return None
    for name, value in getattr(report, "user_properties", ()):
        if name == PROPERTY:
            return dict(json.loads(value))
    return None


def pytest_report_teststatus(report: Any, config: pytest.Config) -> tuple[str, str, Any] | None:
    """Inconclusive is a status of its own, and a pass says what of it is inconclusive."""
    found = _summary(report)
    if found is None:
        return None
    inconclusive = found["counts"].get("inconclusive", 0)
    if report.skipped and inconclusive and not hasattr(report, "wasxfail"):
        return "inconclusive", "i", ("INCONCLUSIVE", {"yellow": True})
    if report.passed and inconclusive and not hasattr(report, "wasxfail"):
        return "passed", ".", f"PASSED ({inconclusive} inconclusive)"
    return None


def _as_expected(counts: Mapping[str, int]) -> dict[str, int]:
    """Counts of a test that was marked as xfail: what failed did so as expected."""
    bad = ("fail", "crash", "timeout")
    kept = {name: n for name, n in counts.items() if name not in bad}
    return kept | {"expected failure": sum(counts.get(n, 0) for n in (*bad, "expected failure"))}


class Outcomes:
    """What the cases of one session found; the counts of all, also of those in other processes."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []

    @property
    def total(self) -> Counter[str]:
        """Results per verdict."""
        total: Counter[str] = Counter()
        for each in self.found:
            total.update(each["counts"])
        return total

    @property
    def judged(self) -> int:
        """Results of which something was found out."""
        return sum(n for name, n in self.total.items() if name not in UNJUDGED)

    def pytest_runtest_logreport(self, report: Any) -> None:
        """Keep what a case found."""
        found = _summary(report)
        if found is None:
            return
        if report.skipped and hasattr(report, "wasxfail"):
            found["counts"] = _as_expected(found["counts"])
        self.found.append(found)

    @pytest.hookimpl(tryfirst=True)
    def pytest_sessionfinish(self, session: pytest.Session, exitstatus: int) -> None:
        """A run in which nothing was judged is a failure."""
        worker = hasattr(session.config, "workerinput")
        if self.found and not worker and not self.judged and exitstatus == 0:
            session.exitstatus = pytest.ExitCode.TESTS_FAILED

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        """Counts of all results, and why some were not judged."""
        if not self.found:
            return
        total = self.total
        always = ("pass", "skipped", "inconclusive")
        names = [*always, *(name for name in total if name not in always)]
        say = terminalreporter.line
        terminalreporter.section("verification")
        counts = ", ".join(f"{total[name]} {name}" for name in names)
        say(f"{sum(total.values())} results in {len(self.found)} cases: {counts}")
        if not self.judged:
            say("nothing was judged, which counts as a failure", red=True)
        reasons: Counter[tuple[str, str, str]] = Counter()
        for each in self.found:
            for verdict, reason, n in each["reasons"]:
                reasons[verdict, f"{each['problem']} {each['check']}", reason] += n
        for (verdict, where, reason), n in reasons.most_common(REASONS):
            say(f"{n} {verdict}: {where}: {reason}")
        if len(reasons) > REASONS:
            say(f"... and {len(reasons) - REASONS} other reasons")


def pytest_unconfigure(config: pytest.Config) -> None:
    """End the program under test."""
    import sys

    items = sys.modules.get("verification.bridges.pytest_items")
    if items is not None:
        items.close(config)
