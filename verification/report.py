"""Documents and their three renderings: terminal, JSON and one self-contained HTML page.

Commands build a `Document`; nothing here computes a number, so that every figure shown is the
figure that was judged. `report_document` turns the `Report` of one `verify` run into one.
"""

from __future__ import annotations

import html
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.console import Console, Group, RenderableType
from rich.syntax import Syntax
from rich.table import Table as RichTable
from rich.text import Text

from verification.verdicts import Report, Verdict

_TONES = {"": "", "good": "green", "bad": "bold red", "warn": "yellow", "dim": "dim"}


@dataclass(frozen=True)
class Cell:
    """Text with a tone: "" | "good" | "bad" | "warn" | "dim"."""

    text: str
    tone: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of strings or cells; ``numeric`` names the columns to align on the right."""

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | Cell, ...], ...]
    numeric: frozenset[str] = frozenset()
    note: str = ""


@dataclass(frozen=True)
class Paragraph:
    """Running text."""

    text: str
    tone: str = ""


@dataclass(frozen=True)
class Code:
    """Something to paste."""

    title: str
    text: str
    language: str = "python"


Block = Table | Paragraph | Code


@dataclass(frozen=True)
class Document:
    """A title, a verdict (None where there is nothing to judge), blocks, and the data behind them."""

    title: str
    blocks: tuple[Block, ...]
    ok: bool | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    good: str = "everything passed"

    @property
    def verdict(self) -> Cell | None:
        """The last line."""
        return None if self.ok is None else verdict_cell(self.ok, self.good, "FAILED")


def number(value: float | None, digits: int = 2) -> str:
    """Short scientific or plain notation; a dash for what was not measured."""
    if value is None:
        return "-"
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    return f"{value:.{digits - 1}e}" if not 1e-3 <= abs(value) < 1e4 else f"{value:.{digits + 1}g}"


def verdict_cell(ok: bool, good: str = "pass", bad: str = "FAIL") -> Cell:
    """The last word of a row."""
    return Cell(good, "good") if ok else Cell(bad, "bad")


def tally(counts: Mapping[str, int]) -> str:
    """Non-zero counts of verdicts in words, e.g. ``12 pass, 1 skipped``."""
    return ", ".join(f"{n} {name}" for name, n in counts.items() if n) or "nothing judged"


def table(
    title: str,
    columns: Sequence[str],
    rows: Iterable[Sequence[str | Cell]],
    numeric: Iterable[str] = (),
    note: str = "",
) -> Table:
    """Build a `Table`; a row of the wrong length is a mistake of the caller."""
    kept = tuple(tuple(row) for row in rows)
    for row in kept:
        if len(row) != len(columns):
            raise ValueError(
                f"row has {len(row)} cells, the table {title!r} has {len(columns)} columns: {row}"
            )
    return Table(title, tuple(columns), kept, frozenset(numeric), note)


def report_table(reports: Sequence[Report], title: str = "Checks") -> Table:
    """One row per `verify` run: instances tried, worst certified gap and distance, verdicts."""
    rows = []
    for report in reports:
        instances = len({r.instance for r in report.results if r.instance is not None})
        rows.append(
            (
                report.problem,
                str(instances),
                str(report.checked),
                number(report.worst_gap),
                number(report.worst_distance),
                tally(report.counts),
                verdict_cell(report.ok),
            )
        )
    columns = ("problem", "instances", "judged", "worst gap", "worst distance", "verdicts", "")
    numeric = ("instances", "judged", "worst gap", "worst distance")
    return table(title, columns, rows, numeric)


def report_document(report: Report) -> Document:
    """The document of one run: a row per check, the failures, the smallest counterexample."""
    rows = []
    for name, counts in report.by_check().items():
        bad = any(counts[v.value] for v in Verdict if v.is_bad)
        judged = any(counts[v.value] for v in (Verdict.PASS, Verdict.EXPECTED_FAILURE))
        mark = Cell("FAIL", "bad") if bad else Cell("pass", "good") if judged else Cell("-", "dim")
        rows.append((name, tally(counts), mark))
    title = f"{report.candidate or 'candidate'} against {report.problem}"
    blocks: list[Block] = [
        report_table(
            [report], f"profile {report.profile}, seed {report.seed}, {report.elapsed:.1f} s"
        ),
        table("Per check", ("check", "verdicts", ""), rows),
        *failure_blocks(report),
    ]
    if report.checked == 0:
        blocks.append(Paragraph("Nothing was judged, which counts as a failure.", "bad"))
    return Document(title, tuple(blocks), report.ok, report.to_dict())


def failure_blocks(report: Report) -> list[Block]:
    """First message of each failing check, and the counterexample as code."""
    blocks: list[Block] = []
    seen: set[str] = set()
    for result in report.failures:
        if result.check not in seen:
            seen.add(result.check)
            text = f"{report.problem}: {result.verdict} in {result.check} ({result.family}): {result.message}"
            blocks.append(Paragraph(text, "bad"))
    if report.counterexample:
        blocks.append(Code("Smallest counterexample found", report.counterexample))
    return blocks


def render_terminal(document: Document, console: Console) -> None:
    """Print with rich; colours only where the terminal has them."""
    console.print(Text(document.title, style="bold"))
    for block in document.blocks:
        console.print()
        console.print(_rich(block))
    if document.verdict is not None:
        console.print()
        console.print(_text(document.verdict))


def _text(cell: str | Cell) -> Text:
    return Text(cell.text, style=_TONES[cell.tone]) if isinstance(cell, Cell) else Text(cell)


def _rich(block: Block) -> RenderableType:
    if isinstance(block, Paragraph):
        return Text(block.text, style=_TONES[block.tone])
    if isinstance(block, Code):
        return Group(
            Text(block.title, style="bold"),
            Syntax(block.text, block.language, background_color="default"),
        )
    shown = RichTable(
        title=block.title,
        title_justify="left",
        title_style="bold",
        header_style="bold",
        box=None,
        pad_edge=False,
        show_header=any(block.columns),
    )
    for column in block.columns:
        right = column in block.numeric
        # Numbers may not be cut; words may fold.
        shown.add_column(
            column, justify="right" if right else "left", no_wrap=right, overflow="fold"
        )
    for row in block.rows:
        shown.add_row(*(_text(cell) for cell in row))
    return Group(shown, Text(block.note, style="dim")) if block.note else shown


def render_json(document: Document) -> str:
    """Strict JSON of the data: infinities and NaN become strings, numpy scalars numbers."""
    payload = {"title": document.title, "ok": document.ok, **document.data}
    return json.dumps(plain(payload), indent=2, allow_nan=False)


def plain(value: Any) -> Any:
    """Convert nested numpy and dataclass-like values to what JSON knows."""
    if isinstance(value, Mapping):
        return {str(k): plain(v) for k, v in value.items()}
    if isinstance(value, (list, tuple, set, frozenset)):
        return [plain(v) for v in value]
    if isinstance(value, Path):
        return str(value)
    if hasattr(value, "tolist"):  # numpy arrays and scalars
        return plain(value.tolist())
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    return str(value)


_STYLE = """
:root { color-scheme: light dark; --good: #1a7f37; --bad: #c62828; --warn: #9a6700; --dim: #777; --line: #8884; }
@media (prefers-color-scheme: dark) { :root { --good: #57c878; --bad: #ff7b72; --warn: #e0b040; --dim: #999; } }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 72rem; margin: 2rem auto; padding: 0 1rem; }
.wide { overflow-x: auto; margin-top: 1.5rem; } table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
caption { text-align: left; font-weight: 600; padding: .4rem 0; }
th, td { text-align: left; padding: .2rem .9rem .2rem 0; border-bottom: 1px solid var(--line); vertical-align: top; }
.num { text-align: right; white-space: nowrap; }
.good { color: var(--good); } .bad { color: var(--bad); font-weight: 600; }
.warn { color: var(--warn); } .dim { color: var(--dim); }
pre { padding: .8rem; border: 1px solid var(--line); overflow-x: auto; }
"""


def render_html(document: Document) -> str:
    """One page without scripts or outside resources; all text is escaped."""
    esc = html.escape
    parts = [f"<h1>{esc(document.title)}</h1>"]
    if document.verdict is not None:
        parts.append(f'<p class="{document.verdict.tone}">{esc(document.verdict.text)}</p>')
    for block in document.blocks:
        if isinstance(block, Paragraph):
            parts.append(f'<p class="{block.tone}">{esc(block.text)}</p>')
        elif isinstance(block, Code):
            parts.append(f"<h2>{esc(block.title)}</h2><pre><code>{esc(block.text)}</code></pre>")
        else:
            parts.append(_html_table(block))
    return (
        f'<!doctype html>\n<html lang="en"><head><meta charset="utf-8"><title>{esc(document.title)}</title>'
        f'<meta name="viewport" content="width=device-width"><style>{_STYLE}</style></head>\n<body>\n'
        + "\n".join(parts)
        + "\n</body></html>\n"
    )


def _html_table(block: Table) -> str:
    right = [' class="num"' if c in block.numeric else "" for c in block.columns]
    head = "".join(
        f"<th{r}>{html.escape(c)}</th>" for c, r in zip(block.columns, right, strict=True)
    )
    lines = []
    for row in block.rows:
        cells = []
        for value, r in zip(row, right, strict=True):
            text, tone = (value.text, value.tone) if isinstance(value, Cell) else (value, "")
            inner = html.escape(text)
            cells.append(
                f'<td{r}><span class="{tone}">{inner}</span></td>'
                if tone
                else f"<td{r}>{inner}</td>"
            )
        lines.append(f"<tr>{''.join(cells)}</tr>")
    note = f'<p class="dim">{html.escape(block.note)}</p>' if block.note else ""
    body = "\n".join(lines)
    return (
        f'<div class="wide"><table><caption>{html.escape(block.title)}</caption>'
        f"<thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>{note}"
    )


def write(document: Document, folder: str | Path) -> tuple[Path, Path]:
    """Write ``report.html`` and ``report.json`` into the folder, which is made if need be."""
    target = Path(folder)
    target.mkdir(parents=True, exist_ok=True)
    page, data = target / "report.html", target / "report.json"
    page.write_text(render_html(document), encoding="utf-8")
    data.write_text(render_json(document) + "\n", encoding="utf-8")
    return page, data
