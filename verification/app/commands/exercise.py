"""``refsolve exercise``: hands out the problems of the course, and marks what is handed in."""

from dataclasses import dataclass
from pathlib import Path

import typer

from verification.app.console import check_file, progress, wrote
from verification.app.options import argument, command, option
from verification.errors import InvalidArgumentError
from verification.report.document import Document

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, kw_only=True)
class Options:
    """An exercise, and what is done with it."""

    name: str | None = argument("An exercise; without one they are listed.", None)
    start: Path | None = option("Write a Python file to fill in; never over an existing one.")
    notebook: Path | None = option(
        "Write a notebook to hand out, without an answer; never over an existing one."
    )
    grader: str = option("What grades the notebook: otter or nbgrader.", "otter", "--for")
    hint: int | None = option("1: an idea, 2: the next formula, 3: nearly all.", min=1, max=3)
    check: str | None = option("FILE.py or FILE.py:NAME to mark; a folder with --all.")
    program: str | None = option(
        "Program to mark, in any language, speaking JSON lines.", None, "--exec"
    )
    key: bool = option("Print a solution, for lecturers.", False, "--key")
    everything: bool = option("Mark a folder: EXERCISE.py, or STUDENT/EXERCISE.py.", False, "--all")
    csv: Path | None = option("With --all: write the table there as well.")
    seed: int = option("The instances are a function of it.", 0, min=0)
    timeout: float = option("Seconds allowed per call.", 5.0)


@command(app)
def exercise(options: Options, as_json: bool) -> Document | None:
    """Hand out an exercise or a derivation, give hints, and mark an answer in Python or any other language.

    The kit judges: a wrong answer comes back with its smallest counterexample as code, a right one
    with its certificate. Exit code 0: passed, 1: wrong, or it cannot be run, 2: the request was not
    understood.

        refsolve exercise project_simplex --start project_simplex.py
        refsolve exercise project_simplex --check project_simplex.py
        refsolve exercise --all --check handed_in --csv marks.csv
        refsolve exercise svm_dual --notebook svm_dual.ipynb --for nbgrader
    """
    from verification import derivations
    from verification.exercises import find
    from verification.grading import sheet
    from verification.grading.judging import mark_file, mark_program
    from verification.grading.notebooks import notebook

    o = options
    asked = [
        o.start is not None,
        o.hint is not None,
        o.check is not None,
        o.program is not None,
        o.key,
        o.notebook is not None,
    ]
    if o.everything:
        if o.name is not None or o.check is None or sum(asked) > 1:
            raise InvalidArgumentError("--all goes with --check FOLDER, and with no exercise")
        return _marked_folder(Path(o.check), o)
    if o.csv is not None:
        raise InvalidArgumentError("--csv goes with --all --check FOLDER")
    if o.name is None:
        if any(asked):
            raise InvalidArgumentError(
                "expected the name of an exercise; `refsolve exercise` lists them"
            )
        return sheet.listing()
    if sum(asked) > 1:
        raise InvalidArgumentError(
            "expected one of --start, --notebook, --hint, --check, --exec, --key"
        )
    derivation = derivations.discover().get(o.name)
    if o.notebook is not None:
        text = notebook(derivation or find(o.name), o.grader)
        _write("notebook", o.notebook, text)
        return None
    if derivation is not None:
        if any(asked):
            raise InvalidArgumentError(
                f"{o.name} is a derivation: expected --notebook FILE.ipynb alone"
            )
        return sheet.derivation(derivation)
    chosen = find(o.name)
    if o.start is not None:
        _write("start", o.start, chosen.skeleton())
        return None
    if o.key and not as_json:  # as it is, to be piped into a file
        typer.echo(chosen.key_source(), nl=False)
        return None
    if o.check is not None:
        return sheet.marked(mark_file(chosen, o.check, o.timeout, seed=o.seed))
    if o.program is not None:
        return sheet.marked(mark_program(chosen, o.program, o.timeout, seed=o.seed))
    if o.hint is not None:
        return sheet.hint(chosen, o.hint)
    return sheet.key(chosen) if o.key else sheet.statement(chosen)


def _write(argument: str, file: Path, text: str) -> None:
    if file.exists():
        raise InvalidArgumentError(f"{argument}={str(file)!r}: it exists; name a new file")
    check_file(argument, file)
    file.write_text(text, encoding="utf-8")
    wrote(file)


def _marked_folder(folder: Path, o: Options) -> Document:
    from verification.grading import sheet

    if o.csv is not None:
        check_file("csv", o.csv)
    handed = sheet.submissions(folder)
    if not handed:
        raise InvalidArgumentError(
            f"check={str(folder)!r}: expected a folder with <exercise>.py, or <student>/<exercise>.py"
        )
    with progress(len(handed)) as task:
        rows = sheet.marks(handed, task.step, seed=o.seed, timeout=o.timeout)
    if o.csv is not None:
        o.csv.write_text(sheet.class_csv(rows), encoding="utf-8")
    return sheet.class_table(rows)
