"""Records: what was measured of one solver on one problem, and the tables and documents made of them."""

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from time import perf_counter
from typing import Any, NamedTuple

from verification.benchmarks.timing import race
from verification.report.document import Block, Cell, Document, Paragraph, Table, number, table


@dataclass(frozen=True)
class Record:
    """One line of a table and of the data behind it.

    Attributes
    ----------
    names : what tells it from the other records, by column.
    figures : what was measured, by column; a `Cell` is shown as it is.
    least, most : bounds agreed on, by figure.
    objection : what else is wrong; empty if nothing is.
    """

    names: dict[str, Any]
    figures: dict[str, Any]
    least: dict[str, float] = field(default_factory=dict)
    most: dict[str, float] = field(default_factory=dict)
    objection: str = ""

    def __getitem__(self, name: str) -> Any:
        return self.names[name] if name in self.names else self.figures[name]

    def misses(self, figure: str) -> bool:
        """Whether a figure lies beyond its bounds; one that is not a number does."""
        value = self.figures.get(figure)
        value = math.nan if value is None else value
        least, most = self.least.get(figure), self.most.get(figure)
        low = least is not None and not value >= least
        return low or (most is not None and not value <= most)

    @property
    def reached(self) -> bool:
        """Whether every bound holds and there is no objection."""
        return not self.objection and not any(map(self.misses, (*self.least, *self.most)))

    @property
    def targets(self) -> str:
        """The bounds in words."""
        lower = (f"{_head(name)} >= {bound:g}" for name, bound in self.least.items())
        upper = (f"{_head(name)} <= {bound:g}" for name, bound in self.most.items())
        return ", ".join((*lower, *upper))

    def to_dict(self) -> dict[str, Any]:
        """Plain values by column, and the verdict."""
        values = {**self.names, **self.figures}
        plain = {n: v.text if isinstance(v, Cell) else v for n, v in values.items()}
        judged = {"targets": self.targets, "objection": self.objection, "reached": self.reached}
        return {**plain, **judged}


#: Records shown of a section that shows the worst alone.
WORST = 12


class Section(NamedTuple):
    """How the records of one part of a document are called; ``lowest``: only those lowest in it are shown."""

    title: str
    note: str = ""
    lowest: str = ""

    def table(self, records: Sequence[Record]) -> Table:
        """Its table."""
        if self.lowest:
            records = sorted(records, key=lambda record: record[self.lowest])[:WORST]
        return record_table(self.title, records, self.note)


def _head(name: str) -> str:
    return name.replace("_", " ")


def _cell(value: Any) -> str | Cell:
    """A value as a table shows it."""
    if isinstance(value, str | Cell):
        return value
    if isinstance(value, int):
        return str(value)
    if isinstance(value, Mapping):
        return ", ".join(f"{name} = {_cell(each)}" for name, each in value.items())
    if isinstance(value, Sequence):
        return " / ".join(str(_cell(each)) for each in value)
    return number(value, 3)


class Side(NamedTuple):
    """A fit, and what it attains by what was fitted; None where the problem is another."""

    fit: Callable[[], Any]
    gap: Callable[[Any], float] | None = None


def contest(
    names: Mapping[str, Any],
    ours: Side,
    theirs: Side,
    repeats: int,
    now: Callable[[], float] = perf_counter,
    times: float = 1.0,
    least: dict[str, float] | None = None,
    most: dict[str, float] | None = None,
) -> Record:
    """A fit of ours and one of a rival in turns: seconds, what both attain, rival's seconds over ours.

    What was fitted is judged outside the clock. The rival's seconds count ``times`` fold, where it did a part of
    the work. ``least``, ``most`` are the record's.
    """
    found = race(ours.fit, theirs.fit, repeats, now)
    figures = {
        "seconds": found.seconds,
        "gap": None if ours.gap is None else ours.gap(found.ours),
        "peer_seconds": times * found.peer_seconds,
        "peer_gap": None if theirs.gap is None else theirs.gap(found.theirs),
        "ratio": times * found.ratio,
    }
    return Record(dict(names), figures, least or {}, most or {})


def mark(reached: bool) -> Cell:
    """Whether a target was reached."""
    return Cell("reached", "good") if reached else Cell("missed", "bad")


def record_table(title: str, records: Sequence[Record], note: str = "") -> Table:
    """A row per record; its columns are the names and figures of all of them, in order."""
    heads = list(dict.fromkeys(name for r in records for name in (*r.names, *r.figures)))
    judged = any(r.least or r.most or r.objection for r in records)
    rows: list[tuple[str | Cell, ...]] = []
    for r in records:
        values = {**r.names, **r.figures}
        cells = {name: _cell(values[name]) if name in values else "" for name in heads}
        bad = {name: Cell(str(cells[name]), "bad") for name in heads if r.misses(name)}
        verdict = mark(r.reached) if r.least or r.most or r.objection else Cell("")
        rows.append((*(cells | bad).values(), *((r.targets, verdict) if judged else ())))
    text = {n for r in records for n, v in {**r.names, **r.figures}.items() if isinstance(v, str)}
    numeric = [_head(name) for name in heads if name not in text]
    columns = (*map(_head, heads), *(("target", "") if judged else ()))
    return table(title, columns, rows, numeric, note)


def document(
    title: str,
    sections: Mapping[str, Section],
    measured: Mapping[str, Sequence[Record]],
    strict: bool = True,
    more: Iterable[Block] = (),
    pictures: Sequence[Any] = (),
    good: str = "everything passed",
    data: Mapping[str, Any] | None = None,
) -> Document:
    """A table per section that has records; with ``strict`` a missed target makes the document negative.

    ``more``: blocks behind the tables; ``pictures``: files; ``data``: what else is kept.
    """
    reached = any(measured.values()) and all(r.reached for own in measured.values() for r in own)
    blocks: list[Block] = [sections[name].table(own) for name, own in measured.items() if own]
    blocks += more
    files = [str(path) for path in pictures]
    if files:
        blocks.append(Paragraph(f"Pictures: {', '.join(files)}", "dim"))
    plain = {name: [r.to_dict() for r in own] for name, own in measured.items()}
    kept = {**plain, **(data or {}), "pictures": files, "all_reached": reached}
    return Document(title, tuple(blocks), reached if strict else None, kept, good)


def stream(records: Iterable[Record]) -> None:
    """Print a Markdown table, each row as soon as it is known."""
    for at, record in enumerate(records):
        values = {**record.names, **record.figures}
        if at == 0:
            print("|", " | ".join(map(_head, values)), "|\n" + "|---" * len(values) + "|")
        print("|", " | ".join(str(_cell(value)) for value in values.values()), "|", flush=True)
