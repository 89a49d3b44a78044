"""The detection matrix, its record and the errata as HTML tables."""

import html
import json
import re
from pathlib import Path

from markup import Html, table

from verification.faulty_solvers import discover
from verification.selftest.certificates.matrix import WRONG
from verification.selftest.detection_rows import Matrix, Row
from verification.selftest.errata import ERRATA, mutants_of

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
    head = [f"<span>{check.replace('_', ' ')}</span>" for check in matrix.checks]
    rows = []
    for row in matrix.rows:
        cells = (row.cells[c] or "–" if c in row.cells else "" for c in matrix.checks)
        rows.append((_what(row.name, row.problem, row.defect), *cells))
    return table(("wrong solver", *head), rows, "kills")


def summary() -> Html:
    """A line per record: mutants, killed, the share."""
    rows = []
    for profile in ("quick", "thorough"):
        record = recorded(profile)
        killed = len(record.rows) - len(record.survivors)
        survivors = ", ".join(row.name for row in record.survivors) or "none"
        share = f"{100 * record.share:.1f} %"
        rows.append((profile, len(record.rows), killed, share, survivors))
    return table(("profile", "wrong solvers", "killed", "share", "survivors"), rows)


def certificates() -> Html:
    """The wrong certificates: the function, what is wrong, and the check that refutes it first."""
    record = json.loads((RECORDS.parent / "certificates.json").read_text(encoding="utf-8"))
    rows = [
        (_what(name, row["function"], WRONG[name].defect), row["check"].replace("_", " ") or "none")
        for name, row in record["rows"].items()
    ]
    return table(("wrong certificate", "refuted by"), rows, "kills")


def errata() -> Html:
    """Where, what is printed, what is right, and the mutants or the reason."""
    rows = []
    for key, erratum in ERRATA.items():
        names = ", ".join(f"<code>{name}</code>" for name in mutants_of(key))
        texts = map(_text, (erratum.where, erratum.printed, erratum.right))
        rows.append((*texts, names or _text(erratum.excuse)))
    return table(("where", "printed, or done", "right", "mutants, or why there is none"), rows)


def _what(name: str, where: str, defect: str) -> str:
    """Name, place and defect of something wrong."""
    place = f"<code>{where}</code>. {_text(defect)}"
    return f"<b>{name.replace('_', ' ')}</b><br><small>{place}</small>"


def _text(words: str) -> str:
    """A docstring's sentence, with its ``code``."""
    return re.sub(r"(`+)(.+?)\1", r"<code>\2</code>", html.escape(words))
