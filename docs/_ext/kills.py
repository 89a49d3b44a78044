"""The kill matrix, its record and the errata as HTML tables."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

from markup import Html

from verification.mutants import discover
from verification.selftest.certificates.matrix import WRONG
from verification.selftest.errata import ERRATA, mutants_of
from verification.selftest.kill_rows import Matrix, Row

RECORDS = Path(__file__).resolve().parents[1] / "selftest"


def recorded(profile: str) -> Matrix:
    """What ``refsolve selftest --json`` wrote."""
    data = json.loads((RECORDS / f"{profile}.json").read_text(encoding="utf-8"))
    library = discover()
    rows = tuple(
        Row(name, row["problem"], library[name].defect if name in library else "", row["cells"])
        for name, row in data["rows"].items()
    )
    return Matrix(profile, data["seed"], rows, (), data["seconds"], data["complete"])


def kills(matrix: Matrix) -> Html:
    """First instance that failed; a dash where the check found nothing, empty where it did not run."""
    head = "".join(f"<th><span>{check.replace('_', ' ')}</span></th>" for check in matrix.checks)
    rows = []
    for row in matrix.rows:
        what = f"<b>{row.name.replace('_', ' ')}</b><br><small><code>{row.problem}</code>. "
        cells = "".join(
            f"<td>{row.cells[c] or '–' if c in row.cells else ''}</td>" for c in matrix.checks
        )
        rows.append(f"<tr><td>{what}{_text(row.defect)}</small></td>{cells}</tr>")
    return _table("kills", f"<th>wrong solver</th>{head}", rows)


def summary() -> Html:
    """A line per record: mutants, killed, the share."""
    rows = []
    for profile in sorted(path.stem for path in RECORDS.glob("*.json")):
        record = recorded(profile)
        killed = len(record.rows) - len(record.survivors)
        survivors = ", ".join(row.name for row in record.survivors) or "none"
        figures = (profile, len(record.rows), killed, f"{100 * record.share:.1f} %", survivors)
        rows.append(f"<tr>{''.join(f'<td>{value}</td>' for value in figures)}</tr>")
    head = ("profile", "wrong solvers", "killed", "share", "survivors")
    return _table("", "".join(f"<th>{name}</th>" for name in head), rows)


def certificates() -> Html:
    """The wrong certificates: the function, what is wrong, and the check that refutes it first."""
    record = json.loads((RECORDS.parent / "certificates.json").read_text(encoding="utf-8"))
    rows = [
        f"<tr><td><b>{name.replace('_', ' ')}</b><br><small><code>{row['function']}</code>. "
        f"{_text(WRONG[name].defect)}</small></td><td>{row['check'].replace('_', ' ') or 'none'}</td></tr>"
        for name, row in record["rows"].items()
    ]
    return _table("kills", "<th>wrong certificate</th><th>refuted by</th>", rows)


def errata() -> Html:
    """Where, what is printed, what is right, and the mutants or the reason."""
    rows = []
    for key, erratum in ERRATA.items():
        names = ", ".join(f"<code>{name}</code>" for name in mutants_of(key))
        cells = (erratum.where, erratum.printed, erratum.right)
        texts = "".join(f"<td>{_text(text)}</td>" for text in cells)
        rows.append(f"<tr>{texts}<td>{names or _text(erratum.excuse)}</td></tr>")
    head = ("where", "printed, or done", "right", "mutants, or why there is none")
    return _table("", "".join(f"<th>{name}</th>" for name in head), rows)


def _text(words: str) -> str:
    """A docstring's sentence, with its ``code``."""
    return re.sub(r"(`+)(.+?)\1", r"<code>\2</code>", html.escape(words))


def _table(kind: str, head: str, rows: list[str]) -> Html:
    return Html(
        f"<div class='table-wrapper'><table class='docutils {kind}'>"
        f"<thead><tr>{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )
