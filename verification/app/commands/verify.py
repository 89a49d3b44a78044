"""``refsolve verify``: judge one solver on one problem, or all of ours."""

from __future__ import annotations

import contextlib
import itertools
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from verification.app.console import JsonOption, check_file, finish, make_folder, progress, stderr
from verification.errors import InvalidArgumentError

if TYPE_CHECKING:
    from verification.report.document import Document
    from verification.verdicts.report import Report

app = typer.Typer(add_completion=False)


_Problem = Annotated[
    str | None, typer.Option(help="STEM.OPERATION, e.g. topk_simplex_alpha.projection.")
]
_Solver = Annotated[
    str | None,
    typer.Option(help="package.module:function under test; default: the implementation in fast."),
]
_Program = Annotated[
    str | None,
    typer.Option(
        "--exec", help='Program under test, e.g. "./my_solver --fast", speaking JSON lines.'
    ),
]
_Everything = Annotated[
    bool, typer.Option("--all", help="The main job: every stem, then training on Letter.")
]
_Thorough = Annotated[
    bool,
    typer.Option("--thorough", help="With --all: all instances, more of Letter; 15 CPU minutes."),
]
_Profile = Annotated[str, typer.Option(help="quick, thorough or soak.")]
_Seed = Annotated[int, typer.Option(help="The instances are a function of it.")]
_Check = Annotated[list[str] | None, typer.Option(help="Run this check only; repeatable.")]
_Xfail = Annotated[
    list[str] | None,
    typer.Option(help="CHECK or CHECK/FAMILY known to fail, or a FILE.toml of such; repeatable."),
]
_Fixed = Annotated[
    list[str] | None,
    typer.Option("--set", help="Argument that the solver has built in, k=3; repeatable."),
]
_Isolate = Annotated[
    bool | None,
    typer.Option(
        "--isolate/--no-isolate",
        help="Call the solver in a process of its own, so that it may crash or hang; the "
        "default with --solver.",
    ),
]
_Batch = Annotated[
    bool | None,
    typer.Option(
        "--batch/--no-batch",
        help="Whether the solver claims to take batches of rows; by default it is tried.",
    ),
]
_Accuracy = Annotated[
    float | None,
    typer.Option(help="Relative accuracy that the solver promises, 1e-10; default: rounding."),
]
_Dtype = Annotated[str | None, typer.Option(help="Precision that the solver computes in, float32.")]
_Refuses = Annotated[
    list[str] | None,
    typer.Option(help="Error by which it refuses arguments, ValueError; repeatable."),
]
_Timeout = Annotated[float, typer.Option(help="Seconds allowed per call of the solver.")]
_Count = Annotated[
    int | None, typer.Option(help="soak: stop after so many instances; 100000 by default.")
]
_Seconds = Annotated[float | None, typer.Option(help="soak: stop after so many seconds.")]
_Report = Annotated[
    str | None, typer.Option(help="Files to write, some of html,junit,json; default: all.")
]
_Certificates = Annotated[
    Path | None,
    typer.Option(help="Folder for a certificate of each answer; of projections, one point each."),
]
_Output = Annotated[
    Path | None,
    typer.Option("--output", "-o", help="Folder for them and for replay files; default: report."),
]


@app.command()
def verify(
    problem: _Problem = None,
    solver: _Solver = None,
    program: _Program = None,
    everything: _Everything = False,
    thorough: _Thorough = False,
    profile: _Profile = "quick",
    seed: _Seed = 0,
    check: _Check = None,
    xfail: _Xfail = None,
    fixed: _Fixed = None,
    isolate: _Isolate = None,
    batch: _Batch = None,
    accuracy: _Accuracy = None,
    dtype: _Dtype = None,
    refuses: _Refuses = None,
    timeout: _Timeout = 10.0,
    count: _Count = None,
    seconds: _Seconds = None,
    report: _Report = None,
    output: _Output = None,
    certificates: _Certificates = None,
    as_json: JsonOption = False,
) -> None:
    """Test a solver, yours or ours, and say where it is proved wrong.

    A failure comes with its smallest counterexample as code to paste, and ends with exit code 1;
    exit code 3: nothing failed, but on small instances no reference could certify itself.
    With --report or --output it is also written as a file that `refsolve replay` runs again.

        refsolve verify --solver mymodule:project --problem simplex.projection
        refsolve verify --exec ./solver --problem simplex.projection -o report
    """
    from verification.app import command_line
    from verification.report.run_report import report_document

    if everything is (problem is not None):
        raise InvalidArgumentError(
            "expected either --problem NAME (with an optional --solver or --exec) or --all"
        )
    if thorough and not everything:
        raise InvalidArgumentError("--thorough goes with --all; a problem has --profile thorough")
    if certificates is not None and not str(problem).endswith(".projection"):
        raise InvalidArgumentError(
            f"certificates={str(certificates)!r}: expected a projection to verify, got {problem}"
        )
    folder = output or Path("report")
    wanted = _formats(report, folder) if report is not None or output is not None else ()
    if everything:
        options = (solver, program, check, xfail, fixed, isolate, refuses)
        given = any(options) or (batch, accuracy) != (None, None)
        document, reports = _everything(given, (profile, count, seconds), seed, thorough)
    else:
        # A solver in the current folder is found as `python -m` would find it.
        sys.path.insert(0, str(Path.cwd()))
        with command_line.opened(solver, program, str(problem), timeout) as candidate:
            result = _judged(
                candidate,
                str(problem),
                profile=profile,
                seed=seed,
                xfail=tuple(xfail or ()),
                fixed=command_line.fixed_arguments(fixed or ()),
                checks=check,
                batch=batch,
                timeout=timeout,
                accuracy=accuracy,
                dtype=dtype,
                refuses=refuses or (),
                isolate=solver is not None if isolate is None else isolate,
                count=count,
                seconds=seconds,
                keep=None if certificates is None else _keeper(certificates, str(problem), fixed),
            )
        document, reports = report_document(result), [result]
    if wanted:
        files = command_line.write_files(document, reports, folder, wanted)
        names = ", ".join(map(str, files))
        stderr().print("wrote " + names, style="dim", highlight=False, soft_wrap=True)
    finish(document, as_json)


def _formats(report: str | None, folder: Path) -> Sequence[str]:
    """The formats asked for; their files can be written."""
    from verification.app import command_line

    wanted = command_line.formats(report)
    for form in wanted:
        make_folder("output", folder)
        check_file("output", folder / command_line.FILES[form])
    return wanted


def _keeper(
    folder: Path, problem: str, fixed: list[str] | None
) -> Callable[[dict[str, Any], Any], None]:
    """What writes a certificate of each answer that a file can hold, in turn."""
    from refsolve.certificate_files.projections import Question
    from refsolve.errors import InvalidParameterError
    from verification.app import command_line

    make_folder("certificates", folder)
    known, numbers = command_line.fixed_arguments(fixed or ()), itertools.count()

    def keep(params: dict[str, Any], answer: Any) -> None:
        with contextlib.suppress(
            InvalidParameterError, ValueError
        ):  # several points, or no numbers
            question = Question.of(problem.removesuffix(".projection"), {**known, **params})
            question.save(folder / f"{next(numbers):06d}.cert", answer.x)

    return keep


def _everything(
    solver: bool, run: tuple[str, int | None, float | None], seed: int, thorough: bool
) -> tuple[Document, list[Report]]:
    """The main job; ``solver``: whether options were given that are not for it."""
    if solver:
        raise InvalidArgumentError(
            "--solver, --exec, --check, --xfail, --set, --accuracy, --refuses, --isolate and --batch "
            "go with --problem, not with --all"
        )
    profile, *ends = run
    if profile == "soak" or any(end is not None for end in ends):
        raise InvalidArgumentError(
            "--profile soak, --count and --seconds go with --problem: --all is quick or thorough"
        )
    # Its parts need more than one problem does, and a second to be imported.
    from verification.app.main_job import main_job

    with progress(1) as task:
        return main_job(profile, seed, task, thorough)


def _judged(candidate: Callable[..., Any] | None, problem: str, **options: Any) -> Report:
    """One problem, with its progress shown."""
    from verification.kit.loop import verify as run

    with progress(1) as task:
        return run(
            candidate,
            problem,
            progress=lambda name, done, total: task.at(done, f"{problem}: {name}", total),
            waiting=lambda text: task.describe(f"{problem}: {text}"),
            **options,
        )
