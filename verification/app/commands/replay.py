"""``refsolve replay FILE``: run a stored failure again."""

import sys
from pathlib import Path

import typer

from verification.app.console import (
    JsonOption,
    OtherProgram,
    OtherSolver,
    ReplayFile,
    TrustFile,
    finish,
)

app = typer.Typer(add_completion=False)


@app.command()
def replay(
    file: ReplayFile,
    solver: OtherSolver = None,
    program: OtherProgram = None,
    trust: TrustFile = False,
    as_json: JsonOption = False,
) -> None:
    """Run a stored failure again, on the same bits.

    Ends with exit code 1 while the failure, or another one, is there. The file is data: the solver that it
    names is run with --trust only.
    """
    from verification.app import command_line
    from verification.failures import replay as replays
    from verification.failures.replayed import document

    stored = replays.load(file)
    if trust or solver is not None:
        sys.path.insert(0, str(Path.cwd()))  # a solver in the current folder is found
    with command_line.opened(solver, program, stored.instance.problem.name) as candidate:
        result = stored.run(candidate, trust=trust)
    finish(document(stored, result), as_json)
