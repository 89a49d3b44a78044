"""``refsolve verify``: judge one solver on one problem, or the whole house on all of them."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from verification.console import JsonOption, finish, make_folder, progress, stderr

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
    everything: Annotated[
        bool, typer.Option("--all", help="The main job: every stem, then training on Letter.")
    ] = False,
    profile: Annotated[str, typer.Option(help="quick or thorough.")] = "quick",
    seed: Annotated[int, typer.Option(help="The instances are a function of it.")] = 0,
    check: Annotated[
        list[str] | None, typer.Option(help="Run this check only; repeatable.")
    ] = None,
    xfail: Annotated[
        list[str] | None, typer.Option(help="CHECK or CHECK/FAMILY known to fail; repeatable.")
    ] = None,
    timeout: Annotated[float, typer.Option(help="Seconds allowed per call of the solver.")] = 10.0,
    report: Annotated[
        Path | None, typer.Option(help="Folder for report.html, report.json and replay files.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Throw instances at a solver and believe only certificates.

    A failure comes with its smallest counterexample as code to paste, and ends with exit code 1.
    """
    from verification.errors import InvalidArgumentError
    from verification.main_job import main_job
    from verification.report import report_document, write

    if everything is (problem is not None):
        raise InvalidArgumentError(
            "expected either --problem NAME (with an optional --solver) or --all"
        )
    if report is not None:
        make_folder("report", report)
    if everything:
        if solver or check or xfail:
            raise InvalidArgumentError(
                "--solver, --check and --xfail go with --problem, not with --all"
            )
        with progress(1) as task:
            document, reports = main_job(profile, seed, task)
    else:
        from verification.kit import verify as run
        from verification.replay import load_callable

        # A solver in the current folder is found as `python -m` would find it.
        sys.path.insert(0, str(Path.cwd()))
        candidate = load_callable(solver) if solver else None
        with progress(1) as task:
            result = run(
                candidate,
                str(problem),
                profile,
                seed,
                tuple(xfail or ()),
                checks=check,
                timeout=timeout,
                progress=lambda name, done, total: task.at(done, f"{problem}: {name}", total),
            )
        document, reports = report_document(result), [result]
    if report is not None:
        from verification.replay import save

        failed = [each for each in reports if any(r.instance is not None for r in each.failures)]
        written = [*write(document, report)]
        written += [save(each, report / f"{each.problem}.replay.json") for each in failed]
        stderr().print(
            "wrote " + ", ".join(str(p) for p in written),
            style="dim",
            highlight=False,
            soft_wrap=True,
        )
    finish(document, as_json)
