"""``refsolve selftest``: wrong solvers must be caught, right ones must pass."""

from pathlib import Path
from typing import Annotated

import typer

from verification.app.console import JsonOption, check_file, finish, progress

app = typer.Typer(add_completion=False)


@app.command()
def selftest(
    profile: Annotated[str, typer.Option(help="quick or thorough.")] = "quick",
    jobs: Annotated[
        int | None, typer.Option(help="Processes; by default one per processor.")
    ] = None,
    only: Annotated[
        str, typer.Option(help="Mutants whose name or problem (or function) matches, e.g. 'ap_*'.")
    ] = "*",
    seed: Annotated[int, typer.Option(help="The instances are a function of it.")] = 0,
    until_killed: Annotated[
        bool, typer.Option("--until-killed", help="Stop at the first check that kills.")
    ] = False,
    right: Annotated[
        bool, typer.Option("--right/--no-right", help="Run right solvers beside the wrong ones.")
    ] = True,
    file: Annotated[
        Path | None, typer.Option(help="Lines of JSON; what they hold already is not run again.")
    ] = None,
    fill: Annotated[
        Path | None,
        typer.Option(help="A record of --json: only cells of --check that its rows lack are run."),
    ] = None,
    check: Annotated[
        list[str] | None, typer.Option(help="With --fill: a check; repeatable.")
    ] = None,
    certificates: Annotated[
        bool, typer.Option("--certificates", help="Wrong certificates instead of wrong solvers.")
    ] = False,
    as_json: JsonOption = False,
) -> None:
    """Verify the verifier, on wrong solvers and on right ones.

    Prints the detection matrix. Ends with exit code 1 if a wrong solver survives the thorough profile,
    if less than 95 % die in the quick one, or if a right solver does not pass. With --certificates the
    certificates themselves are wrong, one piece each, and exact arithmetic must refute every one.
    """
    if certificates:
        from verification.selftest.certificates import matrix as core

        with progress(1) as task:
            found = core.run(only, seed, lambda done, total, name: task.at(done, name, total))
        finish(core.document(found), as_json)
        return
    from verification.selftest import detection_matrix
    from verification.selftest.detection_report import document

    if fill is not None:
        check_file("fill", fill)
        with progress(1) as task:
            filled = detection_matrix.fill(
                fill, check or (), only, lambda done, total, name: task.at(done, name, total)
            )
        typer.echo(f"{filled} rows have the cells of {', '.join(check or ())} now")
        return
    if file is not None:
        check_file("file", file)
    with progress(1) as task:
        matrix = detection_matrix.run(
            profile,
            seed,
            only,
            jobs,
            right=right,
            until_killed=until_killed,
            file=file,
            progress=lambda done, total, name: task.at(done, name, total),
        )
    finish(document(matrix), as_json)
