"""The claims ledger as HTML: one entry per statement, its evidence beneath it."""

import html
import re
from collections.abc import Sequence

from markup import Html, table

from verification.paper_statements import (
    APART,
    WITNESSES,
    ClaimResult,
    evaluated,
    items,
    unnumbered,
)

#: Who says it, beside the section.
_VOICE = {
    "asserted": "the paper asserts it",
    "implied": "the paper implies it",
    "ours": "ours",
    "later": "that paper says it",
}


def _text(value: object) -> str:
    return html.escape(str(value))


def _evidence(result: ClaimResult) -> str:
    if result.violations:
        count = f"{result.violations} of {result.instances} instances contradict it"
    else:
        count = f"{result.instances} instances"
    worst = "exact arithmetic" if result.worst is None else f"largest residual {result.worst:.1e}"
    return f"{_text(result.method)} ({count}; {worst})"


def anchor(paper: str, number: str) -> str:
    """Where a claim stands on the page of the ledger."""
    return re.sub(r"[^a-z0-9]+", "-", f"{paper} {number}".lower()).strip("-")


def entry(result: ClaimResult) -> str:
    """One claim."""
    status = result.status if result.ok else f"{result.status}, unexpectedly"
    rows = [
        f"<dt id='{anchor(result.paper, result.number)}'>",
        f"<span class='status {_text(result.status)}'>{_text(status)}</span>",
        f" <b>{_text(result.number)}</b> <small>{_text(result.place)}, {_text(_VOICE[result.voice])}</small></dt>",
        f"<dd><p>{_text(result.statement)}</p><p class='evidence'>{_evidence(result)}</p>",
    ]
    rows.append(f"<p class='evidence'><code>{_text(result.command)}</code></p>")
    if result.counterexample is not None:
        why, given = _text(result.counterexample["why"]), _text(result.given)
        rows.append(f"<p class='evidence'>Counterexample: {why}. <code>{given}</code></p>")
    if result.quote:
        source = f"{result.read_from}; it stands because {WITNESSES[result.witness]}"
        rows.append(f"<p class='evidence'>The paper: “{_text(result.quote)}” ({_text(source)})</p>")
    if result.product or result.apart:
        ours = ", ".join(result.product) or f"nothing of ours: {APART[result.apart]}"
        rows.append(f"<p class='evidence'>On the same instances: <code>{_text(ours)}</code></p>")
    if result.note:
        rows.append(f"<p class='evidence'>{_text(result.note)}</p>")
    return "".join([*rows, "</dd>"])


def _linked(result: ClaimResult) -> str:
    """A row's status and number, linked to its entry."""
    status, at = _text(result.status), anchor(result.paper, result.number)
    return (
        f"<span class='status {status}'>{status}</span> <a href='#{at}'>{_text(result.number)}</a>"
    )


def numbers(results: Sequence[ClaimResult]) -> Html:
    """Every number of the papers: status of the rows about it and what declares it; then the other rows."""
    found = {(result.paper, result.number): result for result in results}
    titles = {result.paper: result.title for result in results}
    parts = []
    for paper, title in titles.items():
        body = []
        for item in items(paper):
            about = "<br>".join(_linked(found[paper, row]) for row in item.rows)
            declared = "<br>".join(f"<code>{_text(call)}</code>" for call in item.calls)
            name = " ".join(filter(None, (item.name, item.edition)))
            body.append((_text(name), about or _text(item.reason), declared or _text(item.apart)))
        summary = f"<summary>{_text(title)}: {len(body)} numbers</summary>"
        for claim in unnumbered(paper):
            result = found[paper, claim.number]
            body.append((f"§{_text(claim.section)}", _linked(result), _text(evaluated(result))))
        columns = ("number", "rows about it, or why there is none", "declared in refsolve")
        shown = table(columns, body, "ledger")
        parts.append(f"<details>{summary}{shown}</details>")
    return Html("".join(parts))


def ledger(results: Sequence[ClaimResult]) -> Html:
    """All claims, paper by paper."""
    parts = []
    for paper in dict.fromkeys(result.paper for result in results):
        rows = [result for result in results if result.paper == paper]
        parts.append(f"<h2>{_text(rows[0].title)}</h2>")
        parts.append(f"<dl class='ledger'>{''.join(map(entry, rows))}</dl>")
    return Html("".join(parts))


def verdicts(rows: Sequence[tuple[str, str, str]], results: Sequence[ClaimResult]) -> Html:
    """A table of losses: what holds, and the claim that says so with its status in this run.

    Each row is (loss, verdict, number of the claim); a claim that was not run raises.
    """
    found = {result.number: result for result in results}
    body = []
    for loss, verdict, number in rows:
        result = found[number]
        status = result.status if result.ok else f"{result.status}, unexpectedly"
        count = f"{result.instances} instances"
        claim = f"<b>{_text(status)}</b>: {_text(number)} <small>({count})</small>"
        body.append((_text(loss), _text(verdict), claim))
    return table(("loss", "top-k calibrated", "claim"), body)
