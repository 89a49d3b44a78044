"""``refsolve claims``: the papers' numbered statements, each tried and given a status."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from verification.app.console import JsonOption, check_file, finish, progress

if TYPE_CHECKING:
    from verification.paper_statements import ClaimResult

app = typer.Typer(add_completion=False)

_TONE = {"verified": "good", "repaired": "good", "refuted": "warn", "open": "dim"}


def _remarks(r: ClaimResult) -> Iterator[tuple[str, bool]]:
    """What is to be said of a claim beside its row, and whether it is as on record."""
    if not r.ok:
        yield f"{r.paper} {r.number}: {r.failure}", False
    if r.counterexample is not None:
        yield f"{r.number}: {r.counterexample['why']}. {r.given}", r.ok


_Paper = Annotated[str | None, typer.Option(help="One paper, e.g. lapin_2015; default: all.")]
_Seed = Annotated[int, typer.Option(help="Seed of the random instances.")]
_Instances = Annotated[
    int | None, typer.Option(help="Random instances per claim instead of its own number.")
]
_Only = Annotated[
    str, typer.Option(help='Only claims whose number contains this text, e.g. "Table 1".')
]
_Markdown = Annotated[Path | None, typer.Option(help="Also write the ledger to this file.")]


@app.command()
def claims(
    paper: _Paper = None,
    seed: _Seed = 0,
    instances: _Instances = None,
    only: _Only = "",
    markdown: _Markdown = None,
    as_json: JsonOption = False,
) -> None:
    """Try the numbered claims of the papers: verified, refuted, or open.

    Ends with exit code 1 if a status differs from the one on record, if nothing was tried, or, where
    all of a paper is asked for, if the ledger passes over one of its numbers.
    """
    from verification.paper_statements import claims as find
    from verification.paper_statements import (
        headline,
        missing,
        papers,
        run_claims,
        to_markdown,
        unknown,
    )
    from verification.report.document import Block, Cell, Document, Paragraph, number, table
    from verification.report.render import write_text

    if markdown is not None:
        check_file("--markdown", markdown)
    with progress(len(find(paper, only))) as task:
        results = run_claims(
            paper,
            seed,
            instances,
            progress=lambda done, total, label: task.at(done, label),
            only=only,
        )
    if markdown is not None:
        write_text(markdown, to_markdown(results), "--markdown")
    rows = [
        (
            r.paper,
            f"{r.number} ({r.section})",
            r.statement,
            r.voice,
            Cell(r.status if r.ok else f"{r.status}!", _TONE[r.status] if r.ok else "bad"),
            str(r.instances),
            str(r.violations),
            "exact" if r.worst is None else number(r.worst),
        )
        for r in results
    ]
    told = ("paper", "where", "statement", "whose")
    columns = (*told, "status", "instances", "contradict", "worst residual")
    blocks: list[Block] = [
        table("Claims", columns, rows, columns[5:]),
        Paragraph(headline(results)),
    ]
    blocks += [Paragraph(text, "" if ok else "bad") for r in results for text, ok in _remarks(r)]
    passed_over = [] if only else [
        f"{name}: {what}" for name in papers() if paper in (None, name)
        for what in (*(f"{item} has no row" for item in missing(name)), *unknown(name))
    ]  # fmt: skip
    blocks += [Paragraph(text, "bad") for text in passed_over]
    ok = bool(results) and all(r.ok for r in results) and not passed_over
    data = {"claims": [r.to_dict() for r in results], "passed_over": passed_over}
    finish(Document("Claims ledger", tuple(blocks), ok, data, "every status as on record"), as_json)
