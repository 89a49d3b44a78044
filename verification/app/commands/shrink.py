"""``refsolve shrink FILE``: look on for a smaller counterexample."""

import sys
from pathlib import Path
from typing import Annotated

import typer

from verification.app.console import (
    JsonOption,
    OtherProgram,
    OtherSolver,
    ReplayFile,
    TrustFile,
    check_file,
    finish,
    stderr,
)
from verification.errors import InvalidArgumentError

app = typer.Typer(add_completion=False)


@app.command()
def shrink(
    file: ReplayFile,
    seconds: Annotated[float, typer.Option(help="Time to look for a smaller one.")] = 60.0,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="File to write; default: FILE itself.")
    ] = None,
    solver: OtherSolver = None,
    program: OtherProgram = None,
    trust: TrustFile = False,
    as_json: JsonOption = False,
) -> None:
    """Make a stored failure smaller: fewer entries, simpler numbers.

    The file is data: the solver that it names is run with --trust only.
    """
    from verification.app import command_line
    from verification.failures import replay as replays
    from verification.failures.replayed import shrunk_document

    if not seconds > 0:
        raise InvalidArgumentError(f"seconds={seconds!r}: expected seconds > 0, e.g. 60")
    stored = replays.load(file)
    check_file("output", output or file)
    if trust or solver is not None:
        sys.path.insert(0, str(Path.cwd()))  # a solver in the current folder is found
    with command_line.opened(solver, program, stored.instance.problem.name) as candidate:
        smaller = stored.shrink(seconds, candidate, trust=trust)
    target = smaller.write(output or file)
    stderr().print(f"wrote {target}", style="dim", highlight=False, soft_wrap=True)
    finish(shrunk_document(stored, smaller), as_json)
