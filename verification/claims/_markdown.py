"""The ledger as Markdown."""

from collections import Counter
from collections.abc import Sequence

from verification.claims._claim import VOICES, ClaimResult
from verification.claims._numbered import items
from verification.report.page import escaped

COLUMNS = (
    "paper",
    "number",
    "statement",
    "by the paper",
    "status",
    "instances",
    "worst certificate",
    "how it was checked",
    "command",
)


#: How each voice is told in the headline.
TOLD = {"asserted": "asserted by the papers", "implied": "implied", "ours": "our own"}


def headline(results: Sequence[ClaimResult]) -> str:
    """What became of what the papers assert, then of what they imply, then of our own questions."""
    found = Counter((result.voice, result.status) for result in results)
    parts = []
    for voice in VOICES:
        each = {
            status: found[voice, status] for status in ("verified", "refuted", "repaired", "open")
        }
        told = ", ".join(f"{number} {status}" for status, number in each.items() if number)
        parts.append(f"{sum(each.values())} {TOLD[voice]}" + (f" ({told})" if told else ""))
    return f"{len(results)} statements: {'; '.join(parts)}."


def to_markdown(results: Sequence[ClaimResult]) -> str:
    """Two tables per paper, its claims and its numbers; counterexamples and notes between them."""
    parts: list[str] = [headline(results), ""]
    for paper in dict.fromkeys(result.paper for result in results):
        rows = [result for result in results if result.paper == paper]
        parts += [f"## {escaped(rows[0].title)}", "", *_table(rows), "", *_remarks(rows), ""]
        parts += [*_numbers(paper), ""]
    return "\n".join(parts).rstrip() + "\n"


def _table(rows: Sequence[ClaimResult]) -> list[str]:
    lines = [f"| {' | '.join(COLUMNS)} |", "|---|---|---|---|---|---:|---|---|---|"]
    for row in rows:
        status = row.status if row.ok else f"{row.status} (**unexpected**: {escaped(row.failure)})"
        count = f"{row.instances}"
        if row.violations:
            count = f"{row.violations} of {row.instances} contradict"
        worst = "exact" if row.worst is None else f"{row.worst:.1e}"
        where = f"{escaped(row.number)} (§{row.section})"
        cells = (
            escaped(row.paper),
            where,
            escaped(row.statement),
            row.voice,
            status,
            count,
            worst,
            escaped(row.method),
            f"`{row.command}`".replace("|", "\\|"),
        )
        lines.append(f"| {' | '.join(cells)} |")
    return lines


def _numbers(paper: str) -> list[str]:
    """Every number of the paper, and the rows about it."""
    lines = ["| what the paper numbers | rows, or why there is none |", "|---|---|"]
    for item in items(paper):
        name = " ".join(filter(None, (item.name, item.edition)))
        lines.append(f"| {escaped(name)} | {escaped('; '.join(item.rows) or item.reason)} |")
    return lines


def _remarks(rows: Sequence[ClaimResult]) -> list[str]:
    lines: list[str] = []
    for row in rows:
        parts = []
        if row.counterexample is not None:
            parts.append(f"{escaped(row.counterexample['why'])}: `{row.given}`.")
        if row.quote:
            parts.append(f"The paper: \u201c{escaped(row.quote)}\u201d.")
        if row.note:
            parts.append(escaped(row.note))
        if parts:
            lines.append(f"- **{escaped(row.number)}**: {' '.join(parts)}")
    return lines
