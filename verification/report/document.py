"""Documents as data: a title, blocks, a verdict. `verification.report.render` shows them.

Commands build a `Document`; nothing here computes a number, so that every figure shown is the
figure that was judged. `verification.report.run_report` turns the `Report` of one `verify` run into one.
"""

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Cell:
    """Text with a tone, "" | "good" | "bad" | "warn" | "dim", and perhaps a link (on a page only)."""

    text: str
    tone: str = ""
    href: str = ""


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


@dataclass(frozen=True)
class Picture:
    """An SVG of our own making, for pages only, and what it shows in words."""

    title: str
    svg: str
    words: str


Block = Table | Paragraph | Code


@dataclass(frozen=True)
class Document:
    """A title, a verdict (None where there is nothing to judge), blocks, and the data behind them.

    ``appendix``: blocks that only the page shows. ``links``: (text, relative address) of files beside
    the page. ``inconclusive``: not ok, and yet nothing was found to be wrong.
    """

    title: str
    blocks: tuple[Block, ...]
    ok: bool | None = None
    data: Mapping[str, Any] = field(default_factory=dict)
    good: str = "everything passed"
    bad: str = "FAILED"
    appendix: tuple[Block | Picture, ...] = ()
    links: tuple[tuple[str, str], ...] = ()
    inconclusive: bool = False

    @property
    def verdict(self) -> Cell | None:
        """The last line."""
        return None if self.ok is None else verdict_cell(self.ok, self.good, self.bad)


def number(value: float | None, digits: int = 2) -> str:
    """Short scientific or plain notation; a dash for what was not measured."""
    if value is None:
        return "-"
    if value == 0 or not math.isfinite(value):
        return f"{value:g}"
    return f"{value:.{digits}e}" if not 1e-3 <= abs(value) < 1e4 else f"{value:.{digits + 1}g}"


def seconds(value: float) -> str:
    """A time as people say it: three digits, minutes from two of them on."""
    if value >= 120.0:
        return f"{value // 60:.0f} min {value % 60:.0f} s"
    return f"{value:.3g} s" if value >= 1e-3 or not value else f"{value * 1e6:.3g} us"


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
