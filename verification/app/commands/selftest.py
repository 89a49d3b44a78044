"""``refsolve selftest``: wrong solvers must be caught, right ones must pass."""

from dataclasses import dataclass
from pathlib import Path

import typer

from verification.app.console import check_file, progress
from verification.app.options import command, option
from verification.errors import InvalidArgumentError
from verification.report.document import Document, Paragraph

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, kw_only=True)
class Options:
    """Which wrong solvers, and how they are run."""

    profile: str = option("quick or thorough.", "quick")
    jobs: int | None = option("Processes; by default one per processor.")
    only: str = option("Faulty solvers whose name or problem (or function) matches, e.g. 'ap_*'.", "*")
    seed: int = option("The instances are a function of it.", 0)
    until_killed: bool = option("Stop at the first check that kills.", False, "--until-killed")
    right: bool = option("Run right solvers beside the wrong ones.", True, "--right/--no-right")
    file: Path | None = option("Lines of JSON; what they hold already is not run again.")
    fill: Path | None = option(
        "A record of --json: only cells of --check that its rows lack are run."
    )
    check: list[str] | None = option("With --fill: a check; repeatable.")
    certificates: bool = option(
        "Wrong certificates instead of wrong solvers.", False, "--certificates"
    )


@command(app)
def selftest(options: Options) -> Document:
    """Verify the verifier, on wrong solvers and on right ones.

    Prints the detection matrix. Ends with exit code 1 if a wrong solver survives the thorough profile,
    if less than 95 % die in the quick one, or if a right solver does not pass. With --certificates the
    certificates themselves are wrong, one piece each, and exact arithmetic must refute every one.
    """
    o = options
    if o.file is not None:
        check_file("file", o.file)
    if (o.fill is None) != (not o.check):
        raise InvalidArgumentError("expected --fill RECORD and --check NAME together, or neither")
    with progress(1) as task:

        def step(done: int, total: int, name: str) -> None:
            task.at(done, name, total)

        if o.certificates:
            from verification.selftest.certificates import matrix as core

            return core.document(core.run(o.only, o.seed, step))
        from verification.selftest import detection_matrix
        from verification.selftest.detection_report import document

        if o.fill is not None:
            checks = o.check or ()
            filled = detection_matrix.fill(o.fill, checks, o.only, step)
            done = Paragraph(f"{filled} rows have the cells of {', '.join(checks)} now")
            return Document("Cells that a record lacked", (done,), data={"filled": filled})
        matrix = detection_matrix.run(
            o.profile, o.seed, o.only, o.jobs, right=o.right, until_killed=o.until_killed, file=o.file, progress=step
        )  # fmt: skip
    return document(matrix)
