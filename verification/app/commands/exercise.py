"""``refsolve exercise``: hands out the problems of the course, and marks what is handed in."""

from pathlib import Path
from typing import Annotated

import typer

from verification.app.console import JsonOption, check_file, finish, progress, stderr
from verification.errors import InvalidArgumentError

app = typer.Typer(add_completion=False)


@app.command()
def exercise(
    name: Annotated[
        str | None, typer.Argument(help="An exercise; without one they are listed.")
    ] = None,
    start: Annotated[
        Path | None,
        typer.Option(help="Write a Python file to fill in; never over an existing one."),
    ] = None,
    hint: Annotated[
        int | None,
        typer.Option(min=1, max=3, help="1: an idea, 2: the next formula, 3: nearly all."),
    ] = None,
    check: Annotated[
        str | None, typer.Option(help="FILE.py or FILE.py:NAME to mark; a folder with --all.")
    ] = None,
    program: Annotated[
        str | None,
        typer.Option("--exec", help="Program to mark, in any language, speaking JSON lines."),
    ] = None,
    key: Annotated[bool, typer.Option("--key", help="Print a solution, for lecturers.")] = False,
    everything: Annotated[
        bool,
        typer.Option("--all", help="Mark a folder: EXERCISE.py, or STUDENT/EXERCISE.py."),
    ] = False,
    csv: Annotated[
        Path | None, typer.Option(help="With --all: write the table there as well.")
    ] = None,
    seed: Annotated[int, typer.Option(min=0, help="The instances are a function of it.")] = 0,
    timeout: Annotated[float, typer.Option(help="Seconds allowed per call.")] = 5.0,
    as_json: JsonOption = False,
) -> None:
    """Hand out an exercise, give hints, and mark an answer in Python or any other language.

    The kit judges: a wrong answer comes back with its smallest counterexample as code, a right one
    with its certificate. Exit code 0: passed, 1: wrong, or it cannot be run, 2: the request was not
    understood.

        refsolve exercise project_simplex --start project_simplex.py
        refsolve exercise project_simplex --check project_simplex.py
        refsolve exercise --all --check handed_in --csv marks.csv
    """
    from verification.exercises import find
    from verification.grading import sheet
    from verification.grading.judging import mark_file, mark_program

    asked = [start is not None, hint is not None, check is not None, program is not None, key]
    if everything:
        if name is not None or check is None or sum(asked) > 1:
            raise InvalidArgumentError("--all goes with --check FOLDER, and with no exercise")
        _mark_folder(Path(check), csv, as_json, seed, timeout)
        return
    if csv is not None:
        raise InvalidArgumentError("--csv goes with --all --check FOLDER")
    if name is None:
        if any(asked):
            raise InvalidArgumentError(
                "expected the name of an exercise; `refsolve exercise` lists them"
            )
        finish(sheet.listing(), as_json)
        return
    if sum(asked) > 1:
        raise InvalidArgumentError("expected one of --start, --hint, --check, --exec and --key")
    chosen = find(name)
    if start is not None:
        if start.exists():
            raise InvalidArgumentError(f"start={str(start)!r}: it exists; name a new file")
        check_file("start", start)
        start.write_text(chosen.skeleton(), encoding="utf-8")
        stderr().print(f"wrote {start}", style="dim", highlight=False, soft_wrap=True)
    elif hint is not None:
        finish(sheet.hint(chosen, hint), as_json)
    elif key:
        if as_json:
            finish(sheet.key(chosen), as_json)
        else:  # as it is, to be piped into a file
            typer.echo(chosen.key_source(), nl=False)
    elif check is not None:
        finish(sheet.marked(mark_file(chosen, check, timeout, seed=seed)), as_json)
    elif program is not None:
        finish(sheet.marked(mark_program(chosen, program, timeout, seed=seed)), as_json)
    else:
        finish(sheet.statement(chosen), as_json)


def _mark_folder(folder: Path, csv: Path | None, as_json: bool, seed: int, timeout: float) -> None:
    from verification.grading import sheet

    if csv is not None:
        check_file("csv", csv)
    handed = sheet.submissions(folder)
    if not handed:
        raise InvalidArgumentError(
            f"check={str(folder)!r}: expected a folder with <exercise>.py, or <student>/<exercise>.py"
        )
    with progress(len(handed)) as task:
        rows = sheet.marks(handed, task.step, seed=seed, timeout=timeout)
    if csv is not None:
        csv.write_text(sheet.class_csv(rows), encoding="utf-8")
    finish(sheet.class_table(rows), as_json)
