"""``refsolve claims``: the papers' numbered statements, each tried and given a status."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from verification.app.console import check_file, progress
from verification.app.options import command, option
from verification.report.document import Block, Cell, Document, Paragraph, number, table

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


@dataclass(frozen=True, kw_only=True)
class Options:
    """Which claims, and on what."""

    paper: str | None = option("One paper, e.g. lapin_2015; default: all.")
    seed: int = option("Seed of the random instances.", 0)
    instances: int | None = option("Random instances per claim instead of its own number.")
    only: str = option('Only claims whose number contains this text, e.g. "Table 1".', "")
    markdown: Path | None = option("Also write the table to this file, as Markdown.")


@command(app)
def claims(options: Options) -> Document:
    """Try the numbered claims of the papers: verified, refuted, or open.

    Ends with exit code 1 if a status differs from the one on record, if nothing was tried, or, where
    all of a paper is asked for, if the ledger passes over one of its numbers.
    """
    from verification import paper_statements as ledger
    from verification.report.render import write_text

    o = options
    if o.markdown is not None:
        check_file("--markdown", o.markdown)
    with progress(len(ledger.claims(o.paper, o.only))) as task:

        def step(done: int, total: int, label: str) -> None:
            task.at(done, label)

        results = ledger.run_claims(o.paper, o.seed, o.instances, progress=step, only=o.only)
    if o.markdown is not None:
        write_text(o.markdown, ledger.to_markdown(results), "--markdown")
    rows = [
        (
            r.paper, f"{r.number} ({r.section})", r.statement, r.voice,
            Cell(r.status if r.ok else f"{r.status}!", _TONE[r.status] if r.ok else "bad"),
            str(r.instances), str(r.violations), "exact" if r.worst is None else number(r.worst),
        )
        for r in results
    ]  # fmt: skip
    told = ("paper", "where", "statement", "whose")
    columns = (*told, "status", "instances", "contradict", "worst residual")
    blocks: list[Block] = [table("Claims", columns, rows, columns[5:])]
    blocks.append(Paragraph(ledger.headline(results)))
    blocks += [Paragraph(text, "" if ok else "bad") for r in results for text, ok in _remarks(r)]
    passed_over = [] if o.only else [
        f"{name}: {what}" for name in ledger.papers() if o.paper in (None, name)
        for what in (*(f"{item} has no row" for item in ledger.missing(name)), *ledger.unknown(name))
    ]  # fmt: skip
    blocks += [Paragraph(text, "bad") for text in passed_over]
    ok = bool(results) and all(r.ok for r in results) and not passed_over
    data = {"claims": [r.to_dict() for r in results], "passed_over": passed_over}
    return Document("Reproducibility table", tuple(blocks), ok, data, "every status as on record")
