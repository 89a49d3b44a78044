"""``refsolve soak``: very many instances of right solvers, none of which may be called wrong."""

import json
from pathlib import Path
from typing import Annotated

import typer

from verification.app.console import JsonOption, check_file, finish, progress

app = typer.Typer(add_completion=False)


@app.command()
def soak(
    total: Annotated[int, typer.Option(help="Instances over all solvers, at least.")] = 1_000_000,
    seed: Annotated[int, typer.Option(help="First seed of every problem.")] = 0,
    file: Annotated[
        Path, typer.Option(help="Lines of JSON; what they hold already is not run again.")
    ] = Path("soak.jsonl"),
    problem: Annotated[
        list[str] | None, typer.Option(help="STEM.OPERATION, or 'svm*'; repeatable; default: all.")
    ] = None,
    jobs: Annotated[int, typer.Option(help="Processes, at low priority.")] = 2,
    summary: Annotated[
        Path | None, typer.Option(help="Write the summary here, as docs/soak.json is.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Look for false alarms, for hours, on solvers that are right.

    May be stopped and started again. Ends with exit code 1 if a right solver was called wrong.
    """
    from verification.report.render import write_text
    from verification.selftest import soak as soaking

    for option, path in (("file", file), ("summary", summary)):
        if path is not None:
            check_file(option, path)
    with progress(1) as task:
        lines = soaking.soak(
            total,
            seed,
            file,
            problems=tuple(problem or ()),
            processes=jobs,
            progress=lambda done, whole: task.at(done, "soak", whole),
        )
    found = soaking.record(file, lines)
    if summary is not None:
        write_text(summary, json.dumps(found, indent=1) + "\n", "summary")
    finish(soaking.document(found), as_json)
