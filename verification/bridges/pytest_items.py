"""The items of ``pytest --verify-problem NAME``: one per (check, family of instances)."""

import json
import shlex
import sys
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from verification.app.command_line import fixed_arguments, opened
from verification.bridges.cases import PROPERTY, Case, cases, finalize, judge, save_failure, summary
from verification.errors import VerificationError, VerificationFailedError
from verification.kit import fixing
from verification.kit.solver_call import check_timeout
from verification.problems.problem import fast_candidate, lookup
from verification.verdicts.report import Report

_STACK = pytest.StashKey[ExitStack]()
_SOLVER = pytest.StashKey[Callable[..., Any]]()


class CaseItem(pytest.Item):
    """A case with the solver of the command line."""

    def __init__(self, *, case: Case, **options: Any) -> None:
        super().__init__(**options)
        self.case = case

    def runtest(self) -> None:
        """Judge the solver; see `verification.bridges.cases.finalize`."""
        option = self.config.option
        solver = self.config.stash[_SOLVER]
        report = judge(solver, self.case, option.verify_timeout).report(self.case)
        self.user_properties.append((PROPERTY, json.dumps(summary(self.case, report))))
        if option.verify_output:
            self._save(report, Path(option.verify_output))
        finalize(report)

    def _save(self, report: Report, folder: Path) -> None:
        path = save_failure(self.case, report, folder)
        if path is not None:
            typed = shlex.join(["refsolve", "replay", str(path), "--trust"])
            self.add_report_section("call", "replay file", typed)

    def repr_failure(self, excinfo: pytest.ExceptionInfo[BaseException], style: Any = None) -> Any:
        """The counterexample, without a traceback of the kit."""
        if isinstance(excinfo.value, VerificationFailedError):
            return str(excinfo.value)
        return super().repr_failure(excinfo, style)

    def reportinfo(self) -> tuple[Path, None, str]:
        """Headline of a failure."""
        return self.path, None, f"{self.case.problem}: {self.name}"


class Problem(pytest.Collector):
    """The node above the items of one problem."""

    def collect(self) -> list[pytest.Item]:
        """One item per case."""
        option = self.config.option
        fixed = fixed_arguments(option.verify_set)
        found = cases(
            self.name,
            profile=option.verify_profile,
            seed=option.verify_seed,
            checks=option.verify_check or None,
            fixed=fixed,
            xfail=dict.fromkeys(option.verify_xfail, "listed in --verify-xfail"),
        )
        return [
            CaseItem.from_parent(self, name=f"{case.check}[{case.family}]", case=case)
            for case in found
        ]


def collect(session: pytest.Session) -> list[pytest.Item]:
    """Start the solver and list the items; a request that cannot be met is a usage error."""
    config = session.config
    option = config.option
    name = option.verify_problem
    sys.path.insert(0, str(config.invocation_params.dir))  # a solver in the current folder is found
    stack = config.stash.setdefault(_STACK, ExitStack())
    try:
        lookup(name)  # one problem, no pattern: there is one solver
        check_timeout(option.verify_timeout)
        solver = stack.enter_context(
            opened(option.verify_solver, option.verify_exec, name, option.verify_timeout)
        )
        if solver is None:
            solver = fast_candidate(name)
        if solver is None:
            raise pytest.UsageError(f"fast has no {name}: give --verify-solver or --verify-exec")
        if option.verify_solver is not None and option.verify_isolate:
            from verification.external import isolated

            task = fixing.fix(lookup(name), fixed_arguments(option.verify_set))
            solver = stack.enter_context(isolated(solver, task, timeout=option.verify_timeout))
        config.stash[_SOLVER] = solver
        return Problem.from_parent(session, name=name, nodeid=name).collect()
    except VerificationError as error:
        raise pytest.UsageError(str(error)) from error


def close(config: pytest.Config) -> None:
    """End the program under test, if there is one."""
    stack = config.stash.get(_STACK, None)
    if stack is not None:
        stack.close()
