"""``refsolve verify``: judge one solver on one problem, or the whole house on all of them."""

from __future__ import annotations

import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from verification.app.console import JsonOption, check_file, finish, make_folder, progress, stderr

app = typer.Typer(add_completion=False)


@app.command()
def verify(
    problem: Annotated[
        str | None, typer.Option(help="STEM.OPERATION, e.g. topk_simplex_alpha.projection.")
    ] = None,
    solver: Annotated[
        str | None,
        typer.Option(
            help="package.module:function under test; default: the implementation in fast."
        ),
    ] = None,
    program: Annotated[
        str | None,
        typer.Option(
            "--exec", help='Program under test, e.g. "./my_solver --fast", speaking JSON lines.'
        ),
    ] = None,
    everything: Annotated[
        bool, typer.Option("--all", help="The main job: every stem, then training on Letter.")
    ] = False,
    profile: Annotated[str, typer.Option(help="quick, thorough or soak.")] = "quick",
    seed: Annotated[int, typer.Option(help="The instances are a function of it.")] = 0,
    check: Annotated[
        list[str] | None, typer.Option(help="Run this check only; repeatable.")
    ] = None,
    xfail: Annotated[
        list[str] | None, typer.Option(help="CHECK or CHECK/FAMILY known to fail; repeatable.")
    ] = None,
    fixed: Annotated[
        list[str] | None,
        typer.Option("--set", help="Argument that the solver has built in, k=3; repeatable."),
    ] = None,
    isolate: Annotated[
        bool | None,
        typer.Option(
            "--isolate/--no-isolate",
            help="Call the solver in a process of its own, so that it may crash or hang; the "
            "default with --solver.",
        ),
    ] = None,
    batch: Annotated[
        bool | None,
        typer.Option(
            "--batch/--no-batch",
            help="Whether the solver claims to take batches of rows; by default it is tried.",
        ),
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds allowed per call of the solver.")] = 10.0,
    count: Annotated[
        int | None, typer.Option(help="soak: stop after so many instances; 100000 by default.")
    ] = None,
    seconds: Annotated[float | None, typer.Option(help="soak: stop after so many seconds.")] = None,
    report: Annotated[
        str | None, typer.Option(help="Files to write, some of html,junit,json; default: all.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Folder for them and for replay files; default: report."
        ),
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Throw instances at a solver and believe only certificates.

    A failure comes with its smallest counterexample as code to paste, and ends with exit code 1.
    With --report or --output it is also written as a file that `refsolve replay` runs again.
    """
    from verification.app import command_line
    from verification.errors import InvalidArgumentError
    from verification.report.run_report import report_document

    if everything is (problem is not None):
        raise InvalidArgumentError(
            "expected either --problem NAME (with an optional --solver or --exec) or --all"
        )
    wanted = command_line.formats(report) if report is not None or output is not None else ()
    folder = output or Path("report")
    if wanted:
        make_folder("output", folder)
        for form in wanted:
            check_file("output", folder / command_line.FILES[form])
    if everything:
        if solver or program or check or xfail or fixed or isolate or batch is not None:
            raise InvalidArgumentError(
                "--solver, --exec, --check, --xfail, --set, --isolate and --batch go with --problem, "
                "not with --all"
            )
        if profile == "soak" or count is not None or seconds is not None:
            raise InvalidArgumentError(
                "--profile soak, --count and --seconds go with --problem: --all is quick or thorough"
            )
        # Its parts need more than one problem does, and a second to be imported.
        from verification.app.main_job import main_job

        with progress(1) as task:
            document, reports = main_job(profile, seed, task)
    else:
        from verification.kit.loop import verify as run

        # A solver in the current folder is found as `python -m` would find it.
        sys.path.insert(0, str(Path.cwd()))
        with ExitStack() as stack:
            candidate = stack.enter_context(
                command_line.opened(solver, program, str(problem), timeout)
            )
            task = stack.enter_context(progress(1))
            result = run(
                candidate,
                str(problem),
                profile,
                seed,
                tuple(xfail or ()),
                fixed=command_line.fixed_arguments(fixed or ()),
                checks=check,
                batch=batch,
                timeout=timeout,
                isolate=solver is not None if isolate is None else isolate,
                count=count,
                seconds=seconds,
                progress=lambda name, done, total: task.at(done, f"{problem}: {name}", total),
            )
        document, reports = report_document(result), [result]
    if wanted:
        written = command_line.write_files(document, reports, folder, wanted)
        stderr().print(
            "wrote " + ", ".join(str(p) for p in written),
            style="dim",
            highlight=False,
            soft_wrap=True,
        )
    finish(document, as_json)
