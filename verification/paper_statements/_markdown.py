"""The ledger as Markdown."""

from collections import Counter
from collections.abc import Sequence

from verification.paper_statements._claim import APART, VOICES, WITNESSES, ClaimResult
from verification.paper_statements._numbered import items, unnumbered
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
TOLD = {
    "asserted": "asserted by the papers",
    "implied": "implied",
    "ours": "our own",
    "later": "by later papers",
}


def headline(results: Sequence[ClaimResult]) -> str:
    """What became of what the papers assert, imply, and of our own questions; printed numbers apart."""
    numbers = [result for result in results if result.apart == "numbers"]
    others = [result for result in results if result.apart != "numbers"]
    parts = []
    for voice in VOICES:
        of_voice = [result for result in others if result.voice == voice]
        parts.append(f"{len(of_voice)} {TOLD[voice]}{_statuses(of_voice)}")
    text = f"{len(others)} statements: {'; '.join(parts)}."
    if numbers:
        text += (
            f" Besides, {len(numbers)} rows of arithmetic on printed numbers{_statuses(numbers)}."
        )
    ours = sum(bool(result.product) for result in results)
    return f"{text} On the instances of {ours} rows our declaration and our fast function are evaluated, too."


def _statuses(results: Sequence[ClaimResult]) -> str:
    """How many have each status, in brackets."""
    found = Counter(result.status for result in results)
    told = [
        f"{found[status]} {status}"
        for status in ("verified", "refuted", "repaired", "open")
        if found[status]
    ]
    return f" ({', '.join(told)})" if told else ""


def to_markdown(results: Sequence[ClaimResult]) -> str:
    """Two tables per paper, its claims and its numbers; counterexamples and notes between them."""
    parts: list[str] = [headline(results), ""]
    for paper in dict.fromkeys(result.paper for result in results):
        rows = [result for result in results if result.paper == paper]
        parts += [f"## {escaped(rows[0].title)}", "", *_table(rows), "", *_remarks(rows), ""]
        parts += [*_numbers(paper, rows), ""]
    return "\n".join(parts).rstrip() + "\n"


def _table(rows: Sequence[ClaimResult]) -> list[str]:
    lines = [f"| {' | '.join(COLUMNS)} |", "|---|---|---|---|---|---:|---|---|---|"]
    for row in rows:
        status = row.status if row.ok else f"{row.status} (**unexpected**: {escaped(row.failure)})"
        count = f"{row.instances}"
        if row.violations:
            count = f"{row.violations} of {row.instances} contradict"
        worst = "exact" if row.worst is None else f"{row.worst:.1e}"
        where = f"{escaped(row.number)} ({escaped(row.place)})"
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


def evaluated(result: ClaimResult) -> str:
    """What of `refsolve` a row evaluates on its instances, or why it has nothing to evaluate."""
    names = (name for name in result.product if name.startswith("refsolve"))
    return ", ".join(names) or APART[result.apart]


def _numbers(paper: str, results: Sequence[ClaimResult]) -> list[str]:
    """Every number of the paper, the rows about it and what declares it; then the other rows."""
    lines = [
        "| what the paper numbers | rows, or why there is none | declared in refsolve |",
        "|---|---|---|",
    ]
    for item in items(paper):
        name = " ".join(filter(None, (item.name, item.edition)))
        rows = "; ".join(item.rows) or item.reason
        declared = ", ".join(f"`{name}`" for name in item.calls) or escaped(item.apart)
        lines.append(f"| {escaped(name)} | {escaped(rows)} | {declared} |")
    by_number = {result.number: result for result in results}
    for claim in unnumbered(paper):
        if claim.number in by_number:
            about = evaluated(by_number[claim.number])
            lines.append(
                f"| section {claim.section} | {escaped(claim.number)} | {escaped(about)} |"
            )
    return lines


def _remarks(rows: Sequence[ClaimResult]) -> list[str]:
    lines: list[str] = []
    for row in rows:
        parts = []
        if row.counterexample is not None:
            parts.append(f"{escaped(row.counterexample['why'])}: `{row.given}`.")
        if row.quote:
            source = f"{row.read_from}; {WITNESSES[row.witness]}"
            parts.append(f"The paper: \u201c{escaped(row.quote)}\u201d ({escaped(source)}).")
        if row.note:
            parts.append(escaped(row.note))
        if parts:
            lines.append(f"- **{escaped(row.number)}**: {' '.join(parts)}")
    return lines
