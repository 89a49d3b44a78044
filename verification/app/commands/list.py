"""``refsolve list``: the objects and what can be asked of each."""

from dataclasses import asdict

import typer

from verification.app.options import command
from verification.report.document import Cell, Document, table

app = typer.Typer(add_completion=False)


@command(app)
def list_objects() -> Document:
    """List the losses, sets and models, and what is asked of each."""
    from verification.problems.objects import discover

    objects = discover()
    rows = [
        (
            s.kind,
            s.name,
            s.title,
            ", ".join(s.operations),
            Cell("refsolve only", "dim")
            if s.oracle_only
            else Cell("refsolve, fast", "good")
            if s.in_fast
            else Cell("refsolve", "warn"),
        )
        for s in objects
    ]
    columns = ("kind", "name", "what", "operations", "packages")
    note = (
        "A problem is NAME.OPERATION, e.g. topk_simplex_alpha.projection; `refsolve show NAME` says more. refsolve: "
        "solved in CVXPY; fast: computed by numba."
    )
    blocks = (table(f"{len(objects)} objects", columns, rows, note=note),)
    return Document("Objects", blocks, None, {"objects": [asdict(s) for s in objects]})
