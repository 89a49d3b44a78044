"""``refsolve reproduce letter``: the papers' figures beside ours."""

from __future__ import annotations

from typing import Annotated

import typer

from verification.console import JsonOption, finish, progress

app = typer.Typer(add_completion=False, no_args_is_help=True)


@app.callback()
def reproduce() -> None:
    """Train in a paper's protocol and print its table side by side with ours."""


@app.command()
def letter(
    tol: Annotated[
        float, typer.Option(help="Certified relative duality gap of every model.")
    ] = 1e-4,
    lowest: Annotated[int, typer.Option(help="Smallest power of ten of C.")] = -3,
    highest: Annotated[int, typer.Option(help="Largest power of ten of C.")] = 2,
    per_decade: Annotated[int, typer.Option(min=1, help="Values of C per power of ten.")] = 1,
    as_json: JsonOption = False,
) -> None:
    """Letter, Lapin et al. 2016, Table 3: C by validation for every column separately."""
    import numpy as np

    from verification.benchmarks.letter import ROWS, compile_trainers, load_parts, run_row
    from verification.benchmarks.letter_report import document
    from verification.errors import InvalidArgumentError

    if highest < lowest:
        raise InvalidArgumentError(
            f"highest is {highest}, lowest is {lowest}; expected lowest <= highest"
        )
    steps = (highest - lowest) * per_decade + 1
    grid = [float(f"{c:.6g}") for c in np.logspace(lowest, highest, steps)]
    parts = load_parts()
    with progress(len(ROWS) * len(grid)) as task:
        task.describe("compiling")
        compile_trainers(parts)
        results = [run_row(parts, row, grid, tol, task.step) for row in ROWS]
    finish(document(results, tol), as_json)
