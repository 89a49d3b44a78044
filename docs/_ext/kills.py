"""The kill matrix as HTML: a row per wrong solver, a column per check."""

from __future__ import annotations

import html
from collections.abc import Mapping

from markup import Html

from verification.mutants import discover


def kills(matrix: Mapping[str, Mapping[str, int]]) -> Html:
    """Failed instances; a dash where the check found nothing, empty where it does not apply."""
    checks = sorted({check for row in matrix.values() for check in row})
    head = "".join(f"<th><span>{check.replace('_', ' ')}</span></th>" for check in checks)
    rows = []
    for name, row in matrix.items():
        mutant = discover()[name]
        what = f"<b>{name.replace('_', ' ')}</b><br><small><code>{mutant.problem}</code>. "
        cells = "".join(f"<td>{row[c] or '–' if c in row else ''}</td>" for c in checks)
        rows.append(f"<tr><td>{what}{html.escape(mutant.defect)}</small></td>{cells}</tr>")
    return Html(
        "<div class='table-wrapper'><table class='docutils kills'>"
        f"<thead><tr><th>wrong solver</th>{head}</tr></thead><tbody>{''.join(rows)}</tbody>"
        "</table></div>"
    )
