"""``refsolve replay FILE``: run a stored failure again."""

import sys
from pathlib import Path

import typer

from verification.app.console import JsonOption, OtherProgram, OtherSolver, ReplayFile, finish

app = typer.Typer(add_completion=False)


@app.command()
def replay(
    file: ReplayFile,
    solver: OtherSolver = None,
    program: OtherProgram = None,
    as_json: JsonOption = False,
) -> None:
    """Run a stored failure again, on the same bits.

    Ends with exit code 1 while the failure, or another one, is there.
    """
    from verification.app import command_line
    from verification.failures import replay as replays
    from verification.failures.replayed import document

    stored = replays.load(file)
    sys.path.insert(0, str(Path.cwd()))  # a solver in the current folder is found
    with command_line.opened(solver, program, stored.instance.problem.name) as candidate:
        result = stored.run(candidate)
    finish(document(stored, result), as_json)
