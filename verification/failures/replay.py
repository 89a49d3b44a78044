"""A failure as a file: everything needed to run it again, with no other file around.

It is data: what it says of a program or a function is run only where the user trusts it. ``refsolve
replay FILE`` runs it again (exit code 1 while the failure is there); ``refsolve explain FILE`` says
what fails and by how much; ``refsolve shrink FILE`` looks for a smaller one. Schema 2::

    instance       every argument, each float in hexadecimal
    candidate      "module.function", or the command line of a program
    rows           the instances of a batch, of which the one above is the first; or nothing
    returned       what the candidate answered, to the last bit
    verdict, message, terms (name, value, tolerance) of the certificate
    right          a right answer, and the terms of its own certificate
    check, profile, seed, settings, environment, code
    command        that runs this instance again
    found_by       the run that found it, as a command; empty if none says it
"""

from __future__ import annotations

import json
import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from verification import checks
from verification.adapters.precision import Rounded
from verification.errors import InvalidArgumentError, UntrustedFileError
from verification.failures import answers, stored
from verification.failures.run_command import command
from verification.failures.shrink import code as code_of
from verification.failures.shrink import shrink as shrink_result
from verification.instances.instance import Instance, encode, freeze
from verification.kit import fixing
from verification.kit.loop import run_one
from verification.kit.solver_call import Caller, load_callable
from verification.kit.timeouts import watch
from verification.report.environment import versions
from verification.report.render import write_text
from verification.verdicts.report import Report
from verification.verdicts.verdict import Candidate, Result, Terms, Verdict


@dataclass(frozen=True)
class Replay:
    """One stored failure.

    Attributes
    ----------
    check : name of the check that failed.
    candidate : dotted name of the callable, or what the program is called.
    instance : Instance
    verdict, message : what was found.
    code : the failure as code to paste.
    environment : versions under which it was found.
    terms : the certificate's terms, name -> (value, tolerance).
    returned : what the candidate answered; None if it did not, or if the file is of schema 1.
    right, right_terms : a right answer, and its own certificate.
    program : command line of a candidate that is a program, else empty.
    profile, seed, settings : of the run that found it.
    rows : the instances of the batch that was asked for; empty where it was the instance alone.
    """

    check: str
    candidate: str
    instance: Instance
    verdict: str
    message: str
    code: str
    environment: Mapping[str, str]
    terms: Terms = field(default_factory=dict)
    returned: Candidate | None = None
    right: Candidate | None = None
    right_terms: Terms = field(default_factory=dict)
    program: tuple[str, ...] = ()
    profile: str = ""
    seed: int | None = None
    settings: Mapping[str, Any] = field(default_factory=dict)
    rows: tuple[Instance, ...] = ()

    def run(
        self, candidate: Callable[..., Any] | str | None = None, *, trust: bool = False
    ) -> Result:
        """Run the check again.

        Parameters
        ----------
        candidate : callable or "module:function", optional
            By default the one that failed, imported by its name, or started again.
        trust : bool
            Whether the file may say what is run: a file from elsewhere can name any program.

        Raises
        ------
        UntrustedFileError
            Without a candidate and without trust; it says what would be run.
        """
        with self.calling(candidate, trust=trust) as call:
            return self._run(call, self.instance)

    def shrink(
        self,
        seconds: float = 60.0,
        candidate: Callable[..., Any] | str | None = None,
        *,
        trust: bool = False,
    ) -> Replay:
        """Look on for a smaller instance with the same failure; InvalidArgumentError if it is gone.

        ``candidate`` and ``trust`` as for `run`.
        """
        with self.calling(candidate, trust=trust) as call:
            found = self._run(call, self.instance)
            if not found.verdict.is_bad:
                raise InvalidArgumentError(
                    f"the failure is gone ({found.verdict} now, {self.verdict} in the file): there is "
                    "nothing to shrink; run `refsolve replay` on the file"
                )
            if found.verdict is not Verdict.TIMEOUT:
                found = shrink_result(found, lambda i: self._run(call, i), seconds)
            return of(found, call, self)

    @contextmanager
    def calling(
        self, candidate: Callable[..., Any] | str | None = None, *, trust: bool = False
    ) -> Iterator[Caller]:
        """The candidate ready to be called; a program is ended afterwards. Arguments as for `run`."""
        if candidate is None and not trust:
            raise UntrustedFileError(
                f"a replay file does not decide what is run, and this one would {self.runs}. If you "
                "know where it is from and want that, add --trust (in Python: trust=True); a solver "
                "of your own is given with --solver or --exec (in Python: candidate=...); `refsolve "
                "explain` runs none"
            )
        problem = fixing.fix(self.instance.problem, self.settings.get("fixed"))
        batch, timeout = self.settings.get("batch"), float(self.settings.get("timeout") or 10.0)
        with ExitStack() as stack:
            if candidate is None:
                candidate = self._stored(stack, problem.name)
            elif isinstance(candidate, str):
                candidate = load_callable(candidate)
            if self.settings.get("isolate"):
                from verification.external import External, isolated

                if not isinstance(candidate, External):
                    candidate = stack.enter_context(isolated(candidate, problem, timeout=timeout))
            promised = self.settings.get("accuracy")
            refusing = tuple(self.settings.get("refuses") or ())
            call = Caller(candidate, problem, timeout, batch, promised, refusing)
            if self.settings.get("dtype"):
                call.dtype = Rounded(self.settings["dtype"]).dtype
            # what hangs is not given the time that compilers are
            call.called = self.verdict == Verdict.TIMEOUT.value
            with watch(call):
                yield call

    @property
    def runs(self) -> str:
        """What is run of the file if it is trusted, in words."""
        if not self.program:
            return f"import and call the Python function {self.candidate!r}"
        options = self.settings.get("started")
        return f"start the program {list(self.program)!r}" + (f" with {options!r}" * bool(options))

    def _stored(self, stack: ExitStack, problem: str) -> Callable[..., Any]:
        """The candidate that failed, if it is here."""
        try:
            if not self.program:
                return load_callable(self.candidate)
            from verification.external import External

            options = self.settings.get("started") or {}
            return stack.enter_context(External(list(self.program), problem, **options))
        except (InvalidArgumentError, TypeError) as error:  # of options that are none
            raise InvalidArgumentError(
                f"{error}. Run this where the solver is (or with its folder in PYTHONPATH), or give "
                "another one with --solver or --exec; `refsolve explain` needs none"
            ) from error

    def _run(self, call: Caller, instance: Instance) -> Result:
        found = checks.discover()
        if self.check not in found:
            raise InvalidArgumentError(f"check={self.check!r}: this version has {', '.join(found)}")
        return run_one(self.check, found[self.check], call, instance)

    def to_dict(self) -> dict[str, Any]:
        """What stands in a file."""
        return {
            "schema": stored.SCHEMA,
            "problem": self.instance.problem.name,
            "family": self.instance.family,
            "check": self.check,
            "candidate": self.candidate,
            "program": list(self.program),
            "verdict": self.verdict,
            "message": self.message,
            "terms": _terms_to_list(self.terms),
            "returned": answers.to_dict(self.returned),
            "right": answers.to_dict(self.right),
            "right_terms": _terms_to_list(self.right_terms),
            "profile": self.profile,
            "seed": self.seed,
            "settings": {**self.settings, "fixed": _frozen(self.settings.get("fixed"))},
            "environment": dict(self.environment),
            "code": self.code,
            "instance": self.instance.to_dict(),
            "rows": [row.to_dict() for row in self.rows],
        }

    def write(self, path: str | os.PathLike[str]) -> Path:
        """Write the file; its command to run it again stands in it."""
        typed = shlex.join(["refsolve", "replay", Path(path).name])
        data = {**self.to_dict(), "command": typed, "found_by": command(self)}
        return write_text(path, json.dumps(data, indent=1) + "\n")


def _frozen(fixed: Mapping[str, Any] | None) -> dict[str, Any]:
    """Fixed arguments as plain data, to the last bit."""
    return {name: encode(freeze(name, value)) for name, value in (fixed or {}).items()}


def _terms_to_list(terms: Terms) -> list[dict[str, Any]]:
    def number(value: float | None) -> str | None:
        return None if value is None else float(value).hex()

    return [
        {"name": name, "value": number(value), "tolerance": number(tolerance)}
        for name, (value, tolerance) in terms.items()
    ]


def of(result: Result, call: Caller, run: Report | Replay, code: str | None = None) -> Replay:
    """A failing result as a `Replay`; ``run`` is the report or replay that it belongs to."""
    return replace(_of(result, run), code=code_of(result, call) if code is None else code)


def _of(result: Result, run: Report | Replay) -> Replay:
    assert result.instance is not None
    right = answers.right(result.instance, result.rows)
    settings = dict(run.settings)
    program = settings.pop("program", ()) if isinstance(run, Report) else run.program
    return Replay(
        check=result.check,
        candidate=run.candidate,
        instance=result.instance,
        verdict=result.verdict.value,
        message=result.message,
        code="",
        environment=versions(),
        terms=result.terms,
        returned=result.answer,
        right=None if right is None else right.answer,
        right_terms={} if right is None else right.judgement.terms,
        program=tuple(program or ()),
        profile=run.profile,
        seed=run.seed,
        settings=settings,
        rows=result.rows,
    )


def save(report: Report, path: str | os.PathLike[str]) -> Path:
    """Write the smallest failure of a report to a JSON file.

    Raises
    ------
    InvalidArgumentError
        If the report holds no failure with an instance.
    """
    result = report.counterexample_result
    if result is None:
        result = next((r for r in report.failures if r.instance is not None), None)
    if result is None or result.instance is None:
        raise InvalidArgumentError(f"report on {report.problem}: expected one with a failure")
    return replace(_of(result, report), code=report.counterexample or "").write(path)


def load(path: str | os.PathLike[str]) -> Replay:
    """Read a file written by `save`; InvalidArgumentError says what is wrong with it."""
    return Replay(**stored.read(path))
