"""``refsolve certify FILE.py:NAME``: what is certain of a CVXPY problem's solution."""

from dataclasses import dataclass
from pathlib import Path

import typer

from verification.app.console import check_file
from verification.app.options import argument, command, option
from verification.report.document import Document

app = typer.Typer(add_completion=False)


@dataclass(frozen=True, kw_only=True)
class Options:
    """A problem, and what is asked of it."""

    problem: str = argument(
        "A CVXPY problem in a file or module, or a function that makes one.", metavar="FILE.py:NAME"
    )
    solver: str | None = option("Solve it with this first (else only if it has no values).")
    tolerance: float = option("Of violation and relative bound, for the verdict.", 1e-6)
    save: Path | None = option("Write a certificate that others can check.")
    output: Path | None = option("Write the page as HTML.", None, "--output", "-o")


@command(app)
def certify(options: Options) -> Document:
    """Bound how far a solution of any CVXPY problem is from the optimum, believing no solver.

    Exit status 0: certified; 1: anything else, proven infeasible or unbounded too.
    """
    o = options
    if o.save is not None:
        check_file("save", o.save)
    from verification.bridges.any_problem import document, loaded
    from verification.report.page import render_html
    from verification.report.render import write_text

    shown = document(loaded(o.problem), o.problem, o.solver, o.tolerance, o.save)
    if o.output is not None:
        write_text(o.output, render_html(shown), "output")
    return shown
