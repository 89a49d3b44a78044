"""``refsolve verify``: judge one solver on one problem, or all of ours."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from verification.app.console import check_file, make_folder, progress, wrote
from verification.app.options import command, option
from verification.errors import InvalidArgumentError
from verification.report.document import Document

if TYPE_CHECKING:
    from verification.verdicts.report import Report

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, kw_only=True)
class Options:
    """A problem, a solver and its declared tolerance, how it is judged, and where the report goes."""

    problem: str | None = option("NAME.OPERATION, e.g. topk_simplex_alpha.projection.")
    solver: str | None = option(
        "package.module:function under test; default: the implementation in fast."
    )
    program: str | None = option(
        'Program under test, e.g. "./my_solver --fast", speaking JSON lines.', None, "--exec"
    )
    everything: bool = option(
        "The main job: every object, then training on Letter.", False, "--all"
    )
    thorough: bool = option(
        "With --all: all instances, more of Letter; 15 CPU minutes.", False, "--thorough"
    )
    profile: str = option("quick, thorough or soak.", "quick")
    seed: int = option("The instances are a function of it.", 0)
    check: list[str] | None = option("Run this check only; repeatable.")
    xfail: list[str] | None = option(
        "CHECK or CHECK/FAMILY known to fail, or a FILE.toml of such; repeatable."
    )
    fixed: list[str] | None = option(
        "Argument that the solver has built in, k=3; repeatable.", None, "--set"
    )
    isolate: bool | None = option(
        "Call the solver in a process of its own, so that it may crash or hang; the default with --solver.", None,
        "--isolate/--no-isolate",
    )  # fmt: skip
    batch: bool | None = option(
        "Whether the solver claims to take batches of rows; by default it is tried.", None, "--batch/--no-batch"
    )  # fmt: skip
    accuracy: float | None = option(
        "Declared tolerance of the solver, relative, e.g. 1e-10; default: a floating-point error bound."
    )
    dtype: str | None = option("Precision that the solver computes in, float32.")
    refuses: list[str] | None = option(
        "Error by which it refuses arguments, ValueError; repeatable."
    )
    timeout: float = option("Seconds allowed per call of the solver.", 10.0)
    count: int | None = option("soak: stop after so many instances; 100000 by default.")
    seconds: float | None = option("soak: stop after so many seconds.")
    report: str | None = option("Files to write, some of html,junit,json; default: all.")
    output: Path | None = option(
        "Folder for them and for replay files; default: report.", None, "--output", "-o"
    )
    certificates: Path | None = option(
        "Folder for a certificate of each answer; of projections, one point each."
    )


@command(app)
def verify(options: Options) -> Document:
    """Test a solver, yours or ours, and say where it is proved wrong.

    A failure comes with its smallest counterexample as code to paste, and ends with exit code 1;
    exit code 3: nothing failed, but on small instances no reference could certify itself.
    With --report or --output it is also written as a file that `refsolve replay` runs again.

        refsolve verify --solver mymodule:project --problem simplex.projection
        refsolve verify --exec ./solver --problem simplex.projection -o report
    """
    from verification.app import command_line
    from verification.report.run_report import report_document

    o = options
    if o.everything is (o.problem is not None):
        raise InvalidArgumentError(
            "expected either --problem NAME (with an optional --solver or --exec) or --all"
        )
    if o.thorough and not o.everything:
        raise InvalidArgumentError("--thorough goes with --all; a problem has --profile thorough")
    if o.certificates is not None and not str(o.problem).endswith(".projection"):
        raise InvalidArgumentError(
            f"certificates={str(o.certificates)!r}: expected a projection to verify, got {o.problem}"
        )
    folder = o.output or Path("report")
    wanted = _formats(o.report, folder) if o.report is not None or o.output is not None else ()
    if o.everything:
        document, reports = _everything(o)
    else:
        reports = [_judged(o)]
        document = report_document(reports[0])
    if wanted:
        wrote(*command_line.write_files(document, reports, folder, wanted))
    return document


def _formats(report: str | None, folder: Path) -> Sequence[str]:
    """The formats asked for; their files can be written."""
    from verification.app import command_line

    wanted = command_line.formats(report)
    for form in wanted:
        make_folder("output", folder)
        check_file("output", folder / command_line.FILES[form])
    return wanted


def _keeper(
    folder: Path, problem: str, known: dict[str, Any]
) -> Callable[[dict[str, Any], Any], None]:
    """What writes a certificate of each answer that a file can hold, in turn."""
    from refsolve.certificate_files.projections import Question
    from refsolve.errors import InvalidParameterError

    make_folder("certificates", folder)
    numbers = itertools.count()

    def keep(params: dict[str, Any], answer: Any) -> None:
        with contextlib.suppress(
            InvalidParameterError, ValueError
        ):  # several points, or no numbers
            question = Question.of(problem.removesuffix(".projection"), {**known, **params})
            question.save(folder / f"{next(numbers):06d}.cert", answer.x)

    return keep


def _everything(o: Options) -> tuple[Document, list[Report]]:
    """The main job; options that are for one problem are refused."""
    given = (o.solver, o.program, o.check, o.xfail, o.fixed, o.isolate, o.refuses)
    if any(given) or (o.batch, o.accuracy) != (None, None):
        raise InvalidArgumentError(
            "--solver, --exec, --check, --xfail, --set, --accuracy, --refuses, --isolate and --batch "
            "go with --problem, not with --all"
        )
    if o.profile == "soak" or (o.count, o.seconds) != (None, None):
        raise InvalidArgumentError(
            "--profile soak, --count and --seconds go with --problem: --all is quick or thorough"
        )
    # Its parts need more than one problem does, and a second to be imported.
    from verification.app.main_job import main_job

    with progress(1) as task:
        return main_job(o.profile, o.seed, task, o.thorough)


def _judged(o: Options) -> Report:
    """One problem, with its progress shown."""
    from verification.app import command_line
    from verification.kit.loop import verify as run

    # A solver in the current folder is found as `python -m` would find it.
    sys.path.insert(0, str(Path.cwd()))
    problem, fixed = str(o.problem), command_line.fixed_arguments(o.fixed or ())
    same = ("profile", "seed", "batch", "timeout", "accuracy", "dtype", "count", "seconds")
    opened = command_line.opened(o.solver, o.program, problem, o.timeout)
    with opened as candidate, progress(1) as task:
        return run(
            candidate,
            problem,
            xfail=tuple(o.xfail or ()),
            fixed=fixed,
            checks=o.check,
            refuses=o.refuses or (),
            isolate=o.solver is not None if o.isolate is None else o.isolate,
            keep=None if o.certificates is None else _keeper(o.certificates, problem, fixed),
            progress=lambda name, done, total: task.at(done, f"{problem}: {name}", total),
            waiting=lambda text: task.describe(f"{problem}: {text}"),
            **{name: getattr(o, name) for name in same},
        )
