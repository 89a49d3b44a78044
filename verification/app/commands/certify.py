"""``refsolve certify FILE.py:NAME``: what is certain of a CVXPY problem's solution."""

from pathlib import Path
from typing import Annotated

import typer

from verification.app.console import JsonOption, check_file, finish

app = typer.Typer(add_completion=False)


@app.command()
def certify(
    problem: Annotated[
        str,
        typer.Argument(
            metavar="FILE.py:NAME",
            help="A CVXPY problem in a file or module, or a function that makes one.",
        ),
    ],
    solver: Annotated[
        str | None,
        typer.Option("--solver", help="Solve it with this first (else only if it has no values)."),
    ] = None,
    tolerance: Annotated[
        float, typer.Option("--tolerance", help="Of violation and relative bound, for the verdict.")
    ] = 1e-6,
    save: Annotated[
        Path | None, typer.Option("--save", help="Write a certificate that others can check.")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Write the page as HTML.")
    ] = None,
    as_json: JsonOption = False,
) -> None:
    """Bound how far a solution of any CVXPY problem is from the optimum, believing no solver.

    Exit status 0: certified; 1: anything else, proven infeasible or unbounded too.
    """
    if save is not None:
        check_file("save", save)
    from verification.bridges.any_problem import document, loaded
    from verification.report.page import render_html
    from verification.report.render import write_text

    shown = document(loaded(problem), problem, solver, tolerance, save)
    if output is not None:
        write_text(output, render_html(shown), "output")
    finish(shown, as_json)
