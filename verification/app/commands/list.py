"""``refsolve list``: the stems and what can be asked of each."""

from dataclasses import asdict

import typer

from verification.app.options import command
from verification.report.document import Cell, Document, table

app = typer.Typer(add_completion=False)


@command(app)
def list_stems() -> Document:
    """List the losses, sets and models, and what is asked of each."""
    from verification.problems.stems import discover

    stems = discover()
    rows = [
        (
            s.kind,
            s.name,
            s.title,
            ", ".join(s.operations),
            Cell("oracle only", "dim")
            if s.oracle_only
            else Cell("oracle, fast", "good")
            if s.in_fast
            else Cell("oracle", "warn"),
        )
        for s in stems
    ]
    columns = ("kind", "stem", "what", "operations", "in")
    note = "A problem is STEM.OPERATION, e.g. topk_simplex_alpha.projection; `refsolve show STEM` says more."
    blocks = (table(f"{len(stems)} stems", columns, rows, note=note),)
    return Document("Stems", blocks, None, {"stems": [asdict(s) for s in stems]})
