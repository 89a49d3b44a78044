"""``refsolve soak``: very many instances of right solvers, none of which may be called wrong."""

import json
from dataclasses import dataclass
from pathlib import Path

import typer

from verification.app.console import check_file, progress
from verification.app.options import command, option
from verification.report.document import Document

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, kw_only=True)
class Options:
    """How many instances, of what, and where they are counted."""

    total: int = option("Instances over all solvers, at least.", 1_000_000)
    seed: int = option("First seed of every problem.", 0)
    file: Path = option(
        "Lines of JSON; what they hold already is not run again.", Path("soak.jsonl")
    )
    problem: list[str] | None = option("NAME.OPERATION, or 'svm*'; repeatable; default: all.")
    jobs: int = option("Processes, at low priority.", 2)
    summary: Path | None = option("Write the summary here, as docs/soak.json is.")


@command(app)
def soak(options: Options) -> Document:
    """Look for false alarms, for hours, on solvers that are right.

    May be stopped and started again. Ends with exit code 1 if a right solver was called wrong.
    """
    from verification.report.render import write_text
    from verification.selftest import soak as soaking

    o = options
    for name, path in (("file", o.file), ("summary", o.summary)):
        if path is not None:
            check_file(name, path)
    with progress(1) as task:
        lines = soaking.soak(
            o.total, o.seed, o.file, problems=tuple(o.problem or ()), processes=o.jobs,
            progress=lambda done, whole: task.at(done, "soak", whole),
        )  # fmt: skip
    found = soaking.record(o.file, lines)
    if o.summary is not None:
        write_text(o.summary, json.dumps(found, indent=1) + "\n", "summary")
    return soaking.document(found)
